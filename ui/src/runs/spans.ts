// How long a run was at work, from what it did when.
import type { Run, RunEvent, Span } from './types'

const AFTER: Record<string, string> = {
  created: 'pending',
  wanted: 'pending',
  started: 'running',
  resumed: 'running',
  paused: 'paused',
}
const ENDS = new Set(['completed', 'failed', 'cancelled'])

type Stretch = Pick<Span, 'state' | 'from_at' | 'to_at'>

/** The moves of one run as stretches, in the way the history of many comes. */
export function stretches(moves: RunEvent[]): Stretch[] {
  const told = moves.filter(({ type }) => type in AFTER || ENDS.has(type))
  return told.flatMap(({ type, at }, index) => {
    const state = AFTER[type]
    return state ? [{ state, from_at: at, to_at: told[index + 1]?.at ?? null }] : []
  })
}

/** Milliseconds at work: without those that it waited or was paused. */
export function workedMs(spans: Stretch[], now: number): number {
  return spans
    .filter(({ state }) => state === 'running')
    .reduce(
      (sum, { from_at, to_at }) => sum + Math.max(0, (to_at ? Date.parse(to_at) : now) - Date.parse(from_at)),
      0,
    )
}

/** The same for a run whose stretches are not known: from its start to its end. */
export function roughMs(run: Run, now: number): number | null {
  if (!run.started_at) return null
  const end = run.completed_at ?? run.paused_at
  return Math.max(0, (end ? Date.parse(end) : now) - Date.parse(run.started_at))
}
