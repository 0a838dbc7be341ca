// What the page of dead letters asks of the server, and what it tells it.
import { useQuery } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useJobChange } from '@/jobs/api'
import { LIVE } from '@/kit/useRepeated'
import type { Letter, Replay, ReplayIn } from './types'

const LETTERS = ['letters']

export type Wanted = { platform?: string; reason?: string; replayed?: boolean }

export function useLetters(wanted: Wanted, isAllowed: boolean) {
  return useList<Letter>(
    [...LETTERS, 'list', wanted],
    (cursor) => answered(api.GET('/v2/jobs/dead-letters', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

export function useCounts(platform: string, isAllowed: boolean) {
  const query = platform ? { platform } : {}
  return useQuery({
    queryKey: [...LETTERS, 'counts', platform],
    queryFn: async () =>
      (await answered(api.GET('/v2/jobs/dead-letters/counts', { params: { query } }))).items,
    enabled: isAllowed,
    ...LIVE,
  })
}

export function useReplays(isAllowed: boolean) {
  return useList<Replay>(
    [...LETTERS, 'replays'],
    (cursor) =>
      answered(api.GET('/v2/jobs/dead-letters/replays', { params: { query: { cursor, limit: 5 } } })),
    { enabled: isAllowed },
  )
}

/** What a replay would do. Nothing is changed by it. */
export function usePreview(wish: ReplayIn) {
  return useQuery({
    queryKey: ['preview', wish],
    queryFn: () => answered(api.POST('/v2/jobs/dead-letters/replay', { body: { ...wish, dry_run: true } })),
    // What was true when the dialog was opened last time need not be true now.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function useReplay(idempotencyKey: string) {
  return useJobChange((body: ReplayIn) =>
    answered(
      api.POST('/v2/jobs/dead-letters/replay', {
        body,
        params: { header: { 'Idempotency-Key': idempotencyKey } },
      }),
    ),
  )
}

export function useStop(replay: string) {
  return useJobChange((_: undefined) =>
    answered(api.POST('/v2/jobs/dead-letters/replay/stop', { body: { replay } })),
  )
}
