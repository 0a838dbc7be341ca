// Each time a worker had a job, put together from what happened to it: who, for how long, how it ended, what it cost.
import type { Job, JobEvent } from './types'

export type Try = {
  platform: string
  attempt: number
  fence: number
  worker: string | null
  began: string
  /** What ended it; null while it goes on. */
  end: JobEvent | null
  /** Null where nobody has said so. */
  micros: number | null
}

// What ends a try; `retrying` only says what follows.
const ENDS = [
  ...['completed', 'failed', 'snoozed', 'lost', 'returned', 'incomplete', 'timed_out', 'cancelled'],
  'dead_lettered',
]

/** Oldest first. */
export function triesOf(job: Job): Try[] {
  // The history says what a part had cost by then; a try cost what came to it since the one before.
  const spent = new Map<string, number>()
  return job.history
    .filter(({ event }) => event === 'dispatched')
    .map((begun) => {
      const { platform, attempt, fence } = begun
      const end =
        job.history.find(
          (one) => one.platform === platform && one.fence === fence && ENDS.includes(one.event),
        ) ?? null
      const before = spent.get(platform) ?? 0
      const total = totalBy(end, job, platform)
      if (total !== null) spent.set(platform, total)
      return {
        ...{ platform, attempt, fence, end, began: begun.at },
        worker: typeof begun.detail.owner === 'string' ? begun.detail.owner : null,
        micros: total === null ? null : total - before,
      }
    })
}

function totalBy(end: JobEvent | null, job: Job, platform: string): number | null {
  const told = end?.detail.cost_micros
  if (typeof told === 'number') return told
  // The writer that confirms the last chunk does not speak of money; nothing is added after it.
  return end?.event === 'completed' ? costAt(job, platform) : null
}

function costAt(job: Job, platform: string): number | null {
  return job.parts.find((part) => part.platform === platform)?.cost_micros ?? null
}

export function costOf(job: Job): number {
  return job.parts.reduce((sum, part) => sum + part.cost_micros, 0)
}
