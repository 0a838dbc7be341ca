// Puts news into what the pages have loaded, so that the badge, the list and the run never disagree.
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { COUNTS, HISTORY, LIST, one } from '@/runs/keys'
import type { Run, RunEvent } from '@/runs/types'
import { noteItems } from './feed'
import { isSnapshot, type Message } from './messages'
import { notePace } from './pace'

type Pages = InfiniteData<{ items: Run[]; next_cursor: string | null }>

// Counters are absolute: whoever missed one message misses nothing by the next.
const COUNTERS = [
  'status',
  'total_items',
  'processed_items',
  'failed_items',
  'skipped_items',
  'in_flight',
  'actual_cost_micros',
  'reserved_cost_micros',
  'budget_cap_micros',
] as const
const ROUTINE = new Set(['items', 'progress', 'snapshot'])

/** A run after a message. What it has heard already changes nothing. */
export function after(run: Run, message: Message): Run {
  if (isSnapshot(message)) return message.run.last_seq >= run.last_seq ? message.run : run
  if (message.seq <= run.last_seq) return run
  return { ...run, ...changes(run, message), last_seq: message.seq }
}

function changes(run: Run, event: RunEvent): Partial<Run> {
  const { at } = event
  switch (event.type) {
    case 'progress': {
      const told = Object.fromEntries(
        COUNTERS.map((name) => [name, event[name] ?? run[name]]),
      ) as Partial<Run>
      const items = sum(told.processed_items) + sum(told.failed_items) + sum(told.skipped_items)
      return { ...told, checkpoint: { category: null, cursor: null, ...run.checkpoint, at, items } }
    }
    case 'wanted':
      return { status: 'pending', sub_status: 'waiting', ...UNPAUSED }
    case 'started':
    case 'resumed':
      return { status: 'running', sub_status: null, started_at: run.started_at ?? at, ...UNPAUSED }
    case 'paused':
      return {
        status: 'paused',
        sub_status: event.in_flight ? 'pausing' : null,
        pause_reason: event.pause_reason ?? null,
        pause_detail: event.detail ?? null,
        paused_at: at,
      }
    case 'completed':
    case 'failed':
      return { status: event.type, sub_status: null, completed_at: at, ...UNPAUSED }
    case 'cancelled':
      return {
        status: 'cancelled',
        sub_status: event.in_flight ? 'cancelling' : null,
        completed_at: at,
        ...UNPAUSED,
      }
    case 'cap_changed':
      return { budget_cap_micros: event.budget_cap_micros ?? run.budget_cap_micros }
    default:
      return {}
  }
}

const UNPAUSED = { pause_reason: null, pause_detail: null, paused_at: null, position: null }

const sum = (number: number | undefined) => number ?? 0

export function apply(queries: QueryClient, messages: Message[]) {
  const moved = new Set<string>()
  for (const message of messages) {
    const id = message.run_id
    queries.setQueryData<Run>(one(id), (run) => (run ? after(run, message) : undefined))
    queries.setQueriesData<Pages>({ queryKey: LIST }, (pages) => pages && within(pages, message))
    if (!isSnapshot(message)) {
      noteItems(message)
      notePace(message)
    }
    if (!ROUTINE.has(message.type)) moved.add(id)
  }
  if (moved.size === 0) return
  for (const key of [COUNTS, HISTORY, LIST]) queries.invalidateQueries({ queryKey: key })
  for (const id of moved) queries.invalidateQueries({ queryKey: one(id), exact: true })
  for (const id of moved) queries.invalidateQueries({ queryKey: [...one(id), 'moves'] })
}

function within(pages: Pages, message: Message): Pages {
  if (!pages.pages.some((page) => page.items.some((run) => run.id === message.run_id))) return pages
  const items = (runs: Run[]) => runs.map((run) => (run.id === message.run_id ? after(run, message) : run))
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: items(page.items) })) }
}
