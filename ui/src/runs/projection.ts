// What a run will have come to, if it goes on as it went.
import { doneItems } from './states'
import type { Run } from './types'

/** What it costs in the end: what is done at what it cost, what is left at the same, or as estimated before any is. */
export function projectedCost(run: Run): number {
  const done = doneItems(run)
  const left = Math.max(0, run.total_items - done)
  if (left === 0 || run.status === 'completed') return run.actual_cost_micros
  const estimated = run.estimate.reduce((sum, line) => sum + line.items, 0)
  const each = done > 0 ? run.actual_cost_micros / done : run.estimated_cost_micros / Math.max(1, estimated)
  return Math.round(run.actual_cost_micros + left * each)
}

/** Seconds until it is done, as a range between two paces; null when it does not move. */
export function timeLeft(run: Run, paces: (number | null)[]): [number, number] | null {
  const left = Math.max(0, run.total_items - doneItems(run))
  const known = paces.filter((pace): pace is number => pace !== null && pace > 0)
  if (known.length === 0 || left === 0 || run.status !== 'running') return null
  return [left / Math.max(...known), left / Math.min(...known)]
}

/** Seconds until the cap is reached at this pace; null when it is not reached before the end. */
export function timeToCap(run: Run, pace: number | null): number | null {
  const done = doneItems(run)
  if (!pace || done === 0 || projectedCost(run) <= run.budget_cap_micros) return null
  const free = run.budget_cap_micros - run.actual_cost_micros
  return free / ((run.actual_cost_micros / done) * pace)
}
