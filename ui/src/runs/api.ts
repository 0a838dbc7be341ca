// What the pages about runs ask of the server, and what they tell it.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { Problem } from '@/api/problems'
import type { components } from '@/api/schema'
import { useRhythm as useChosen } from '@/live/rhythm'
import { useFreshness } from '@/live/store'
import { COUNTS, HISTORY, LIST, one, RUNS } from './keys'
import type { Entry, History, Item, ItemStatus, NewRun, Run, RunChange, RunEvent } from './types'

const at = (id: string) => ({ params: { path: { run_id: id } } })

// While news come by themselves asking is only a safeguard; without them it is how one learns anything.
const SELDOM_MS = 30_000
const OFTEN_MS = 5_000
const SOON_MS = 1_500
const BUSY_MS = 3_000

/** How often to ask. Nobody is asked for those who paused the page. */
function useRhythm(often = OFTEN_MS): number | false {
  const { mode } = useFreshness()
  const chosen = useChosen()
  if (mode === 'paused') return false
  if (chosen !== 'live') return Number(chosen) * 1000
  return mode === 'live' ? SELDOM_MS : often
}

export function useCollectors() {
  return useQuery({
    queryKey: [...RUNS, 'collectors'],
    queryFn: async () => (await answered(api.GET('/v2/runs/collectors'))).items,
    staleTime: 60_000,
  })
}

type Choices = { budget_cap_micros: number | null; skip_collected_days: number | null }

export function useEstimate(collector: string, categories: string[], choices: Choices) {
  return useQuery({
    queryKey: [...RUNS, 'estimate', collector, categories, choices],
    queryFn: () => answered(api.POST('/v2/runs/estimate', { body: { collector, categories, ...choices } })),
    enabled: collector !== '' && categories.length > 0,
    placeholderData: (before) => before,
    staleTime: 0,
  })
}

export function useCounts(isAllowed = true) {
  const every = useRhythm(SELDOM_MS)
  return useQuery({
    queryKey: COUNTS,
    queryFn: () => answered(api.GET('/v2/runs/counts')),
    enabled: isAllowed,
    refetchInterval: every,
  })
}

export type SpentDay = components['schemas']['SpentDayOut']

/** What was spent on each of the last days; nobody spends so fast that it must be asked for often. */
export function useSpending(days: number) {
  const every = useRhythm(SELDOM_MS)
  return useQuery({
    queryKey: [...RUNS, 'spending', days],
    queryFn: async () =>
      (await answered(api.GET('/v2/runs/spending', { params: { query: { days } } }))).items,
    placeholderData: (before) => before,
    refetchInterval: every,
  })
}

export function useHistory(hours: number, isAllowed: boolean) {
  const every = useRhythm()
  return useQuery({
    queryKey: [...HISTORY, hours],
    queryFn: (): Promise<History> => answered(api.GET('/v2/runs/history', { params: { query: { hours } } })),
    enabled: isAllowed,
    placeholderData: (before) => before,
    refetchInterval: every,
  })
}

export type Wanted = { status?: string; used_percent?: number; created_by?: string }

export function useRuns(wanted: Wanted, isAllowed: boolean) {
  return useList<Run>(
    [...LIST, wanted],
    (cursor) => answered(api.GET('/v2/runs', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

/** An answer that was overtaken by news is older than what is here. */
function newest(queries: QueryClient, answer: Run): Run {
  const here = queries.getQueryData<Run>(one(answer.id))
  return here && here.last_seq > answer.last_seq ? here : answer
}

export function useRun(id: string) {
  const queries = useQueryClient()
  const every = useRhythm()
  return useQuery({
    queryKey: one(id),
    queryFn: async () => newest(queries, await answered(api.GET('/v2/runs/{run_id}', at(id)))),
    // On its way somewhere: what it arrives at is not always told.
    refetchInterval: (query) => (every && query.state.data?.sub_status ? SOON_MS : every),
  })
}

export function useSummary(run: Run) {
  const every = useRhythm()
  const isBusy = run.status === 'running' || run.in_flight > 0
  return useQuery({
    queryKey: [...one(run.id), 'summary'],
    queryFn: () => answered(api.GET('/v2/runs/{run_id}/summary', at(run.id))),
    refetchInterval: every && isBusy ? BUSY_MS : every,
  })
}

/** What it was started with and what counts now, asked for again when the run was changed. */
export function useConfig(run: Run) {
  const {
    id,
    budget_cap_micros: cap,
    max_in_flight: pace,
    dropped_categories: dropped,
    started_at: since,
  } = run
  return useQuery({
    queryKey: [...one(id), 'config', cap, pace, dropped, since],
    queryFn: () => answered(api.GET('/v2/runs/{run_id}/config', at(id))),
    placeholderData: (before) => before,
    refetchInterval: useRhythm(SELDOM_MS),
  })
}

/** What changed its state, its cap and its warnings; what comes with each checkpoint is left out. */
export function useMoves(id: string) {
  return useQuery({
    queryKey: [...one(id), 'moves'],
    queryFn: async () => {
      const query = { without: 'items,progress', limit: 500 }
      const answer = await answered(
        api.GET('/v2/runs/{run_id}/events', { params: { path: { run_id: id }, query } }),
      )
      return answer.items as RunEvent[]
    },
    refetchInterval: useRhythm(),
  })
}

export type ItemFilter = { status?: ItemStatus; category?: string }

export function useItems(id: string, filter: ItemFilter) {
  return useList<Item>([...one(id), 'items', filter], (cursor) =>
    answered(
      api.GET('/v2/runs/{run_id}/items', {
        params: { path: { run_id: id }, query: { ...filter, cursor, newest_first: true, limit: 25 } },
      }),
    ),
  )
}

/** The latest when the page was opened and, page by page, those before them. */
export function useOlder(id: string) {
  return useList<Item>([...one(id), 'older'], (cursor) =>
    answered(
      api.GET('/v2/runs/{run_id}/items', {
        params: { path: { run_id: id }, query: { cursor, newest_first: true, limit: 100 } },
      }),
    ),
  )
}

export function useLedger(id: string) {
  return useList<Entry>([...one(id), 'ledger'], (cursor) =>
    answered(api.GET('/v2/runs/{run_id}/ledger', { params: { path: { run_id: id }, query: { cursor } } })),
  )
}

/** The ledger as a file. The token goes in a header, so a plain link would not do. */
export async function ledgerFile(id: string): Promise<Blob> {
  return answered<Blob>(api.GET('/v2/runs/{run_id}/ledger.csv', { ...at(id), parseAs: 'blob' }) as never)
}

function useRunChange<Wish>(tell: (wish: Wish) => Promise<Run>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: (run) => {
      queries.setQueryData(one(run.id), newest(queries, run))
      for (const key of [LIST, COUNTS, HISTORY, [...one(run.id), 'moves'], ['audit']]) {
        queries.invalidateQueries({ queryKey: key })
      }
    },
  })
}

export type Act = 'start' | 'pause' | 'resume' | 'cancel'

export const acted = (id: string, act: Act) => answered<Run>(api.POST(`/v2/runs/{run_id}/${act}`, at(id)))

export function useAct(id: string) {
  return useRunChange((act: Act) => acted(id, act))
}

/** Another cap, and on with it if that was what it waited for. */
export function useRaise(run: Run) {
  return useRunChange(async (cap: number) => {
    const body: RunChange = { budget_cap_micros: cap }
    const after = await answered<Run>(api.PATCH('/v2/runs/{run_id}', { ...at(run.id), body }))
    return after.status === 'paused' && after.pause_reason === 'budget' ? acted(run.id, 'resume') : after
  })
}

export function useSteer(id: string) {
  return useRunChange((body: RunChange) => answered<Run>(api.PATCH('/v2/runs/{run_id}', { ...at(id), body })))
}

/** Tries once more what failed, or failed so. */
export function useRetry(id: string) {
  return useRunChange((code: string | null) =>
    answered<Run>(api.POST('/v2/runs/{run_id}/retry', { ...at(id), body: { error_code: code } })),
  )
}

type Begin = { plan: NewRun; key: string }

/** Plans a run and starts it. Sent twice it is still one run, and one start. */
export function useBegin() {
  return useRunChange(async ({ plan, key }: Begin) => {
    const params = { header: { 'Idempotency-Key': key } }
    const run = await answered<Run>(api.POST('/v2/runs', { params, body: plan }))
    try {
      return await acted(run.id, 'start')
    } catch (error) {
      // Its first start was heard and its answer was not.
      if (error instanceof Problem && error.is('wrong-state')) return run
      throw error
    }
  })
}
