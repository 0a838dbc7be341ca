// When a job that waits shall begin: as it would, at once, in a while, or at a time somebody types.
import { written, type Zone } from '@/kit/zone'
import type { JobChange } from './types'

export const BEGINS = {
  stays: 'As it would',
  now: 'At once',
  minutes: 'In ten minutes',
  hour: 'In an hour',
  day: 'In a day',
  week: 'In a week',
  typed: 'At a time of its own…',
}

export type Begin = keyof typeof BEGINS

const SECONDS = { minutes: 600, hour: 3600, day: 86_400, week: 604_800 }

/** What the browser's field for times holds, read by the clock that was chosen. */
export function typedTime(text: string, zone: Zone): Date | null {
  const at = new Date(zone === 'utc' ? `${text}Z` : text)
  return Number.isNaN(at.getTime()) ? null : at
}

/** Tomorrow at this time, to begin with. */
export function tomorrow(now = Date.now()): string {
  const { date, time } = written(now + 86_400_000)
  return `${date}T${time.slice(0, 5)}`
}

export function notBefore(
  begin: Begin,
  typed: string,
  zone: Zone,
  now = Date.now(),
): JobChange['not_before'] {
  if (begin === 'stays') return null
  if (begin === 'typed') return typedTime(typed, zone)?.toISOString() ?? null
  // What has passed by any clock is at once by the server's.
  return new Date(begin === 'now' ? 0 : now + SECONDS[begin] * 1000).toISOString()
}
