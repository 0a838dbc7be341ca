// What the pages about jobs ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { LIVE } from '@/kit/useRepeated'
import type { Document, Job, JobChange, NewJob, Status } from './types'

const JOBS = ['jobs']
const LIST = [...JOBS, 'list']
const one = (id: string) => [...JOBS, 'one', id]
const at = (id: string) => ({ params: { path: { job_id: id } } })

export type Wanted = {
  platform?: string
  status?: string
  older_than_seconds?: number
  run_id?: string
  error?: string
  attempt_over?: number
}

export function useJobs(wanted: Wanted, isAllowed: boolean) {
  return useList<Job>(
    [...LIST, wanted],
    (cursor) => answered(api.GET('/v2/jobs', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

export function useJob(id: string) {
  return useQuery({
    queryKey: one(id),
    queryFn: () => answered(api.GET('/v2/jobs/{job_id}', at(id))),
    ...LIVE,
  })
}

/** Why it is where it is. Asked again with the job, whose status makes it another question. */
export function useExplanation(id: string, status: Status) {
  return useQuery({
    queryKey: [...one(id), 'explain', status],
    queryFn: () => answered(api.GET('/v2/jobs/{job_id}/explain', at(id))),
    placeholderData: (before) => before,
    ...LIVE,
  })
}

/** What it brought, in the order it came; `count` asks anew when more is there. */
export function useResults(id: string, count: number) {
  return useList<Document>([...one(id), 'results', count], (cursor) =>
    answered(
      api.GET('/v2/jobs/{job_id}/results', {
        params: { path: { job_id: id }, query: { cursor, limit: 20 } },
      }),
    ),
  )
}

/** How many there are of each kind at each platform; one answer for every page that shows some of it. */
export function useBooks(isAllowed = true) {
  return useQuery({
    queryKey: [...JOBS, 'books'],
    queryFn: async () => (await answered(api.GET('/v2/jobs/books'))).items,
    enabled: isAllowed,
    ...LIVE,
  })
}

/** A change after which jobs, platforms and what died may all be other than they were. */
export function useJobChange<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: () => {
      for (const key of [JOBS, ['platforms'], ['letters'], ['audit'], ['leases']]) {
        queries.invalidateQueries({ queryKey: key })
      }
    },
  })
}

/** For many at once, each by itself. */
export const cancelJob = (id: string) => answered(api.POST('/v2/jobs/{job_id}/cancel', at(id)))
export const giveUpJob = (id: string, reason: string) =>
  answered(api.POST('/v2/jobs/{job_id}/dead-letter', { ...at(id), body: { reason } }))
export const retryJob = (id: string) => answered(api.POST('/v2/jobs/{job_id}/retry', at(id)))

export function useSubmit() {
  return useJobChange((body: NewJob) => answered(api.POST('/v2/jobs', { body })))
}

export function useCancel(id: string) {
  return useJobChange((_: undefined) => cancelJob(id))
}

export function useGiveUp(id: string) {
  return useJobChange((reason: string) => giveUpJob(id, reason))
}

export function useSteer(id: string) {
  return useJobChange((body: JobChange) => answered(api.PATCH('/v2/jobs/{job_id}', { ...at(id), body })))
}

export function useRetry(id: string) {
  return useJobChange((_: undefined) => retryJob(id))
}
