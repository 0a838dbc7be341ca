// How fast the run that is looked at goes just now, by the server's own times.
import type { RunEvent } from '@/runs/types'

const WINDOW_MS = 60_000
const LEAST_MS = 2_000

type Sample = { at: number; done: number }
const samples = new Map<string, Sample[]>()

export function notePace(event: RunEvent) {
  if (event.type !== 'progress') {
    // A stretch that was paused is no part of how fast it goes.
    if (event.type === 'paused' || event.type === 'resumed') samples.delete(event.run_id)
    return
  }
  const at = Date.parse(event.at)
  const done = Number(event.processed_items) + Number(event.failed_items) + Number(event.skipped_items)
  const before = (samples.get(event.run_id) ?? []).filter((one) => at - one.at < WINDOW_MS && one.at < at)
  samples.set(event.run_id, [...before, { at, done }])
}

/** Items a second over the last minute; null until that can be said. */
export function paceOf(run: string): number | null {
  const all = samples.get(run) ?? []
  const [first, last] = [all[0], all.at(-1)]
  if (!first || !last || last.at - first.at < LEAST_MS) return null
  return ((last.done - first.done) / (last.at - first.at)) * 1000
}
