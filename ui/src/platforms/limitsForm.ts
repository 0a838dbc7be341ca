// What is typed into the form of a platform's limits, and what of it differs from the file.
import type { LimitsWish, OnePlatform } from './types'

export type Form = { concurrency: string; tasks: string; seconds: string; burst: string }

export const LENGTHS = {
  '15m': '15 minutes',
  '1h': 'An hour',
  '4h': '4 hours',
  '1d': 'A day',
  ever: 'Until somebody takes it back',
}
export type Length = keyof typeof LENGTHS

const LENGTHS_MS: Record<Length, number | null> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
  '1d': 86_400_000,
  ever: null,
}

export function untilOf(length: Length): string | null {
  const ms = LENGTHS_MS[length]
  return ms === null ? null : new Date(Date.now() + ms).toISOString()
}

/** As it is now. */
export function startOf({ concurrency, rate }: OnePlatform): Form {
  return {
    concurrency: String(concurrency),
    tasks: rate ? String(rate.tasks) : '',
    seconds: rate ? String(rate.per_seconds) : '',
    burst: rate ? String(rate.burst) : '',
  }
}

/** A number over 0, undefined for nothing, null for what is none. */
function numberOf(text: string, isWhole = true): number | undefined | null {
  const typed = text.trim()
  if (typed === '') return undefined
  return (isWhole ? /^\d{1,7}$/ : /^\d{1,5}(\.\d{1,3})?$/).test(typed) && Number(typed) > 0
    ? Number(typed)
    : null
}

/** What is to be another than the file says, or why it cannot be. */
export function wishOf(form: Form, platform: OnePlatform): { wish: LimitsWish | null; fault: string | null } {
  const file = platform.limits_override?.file ?? platform
  const concurrency = numberOf(form.concurrency)
  const [tasks, seconds, burst] = [numberOf(form.tasks), numberOf(form.seconds, false), numberOf(form.burst)]
  if ([concurrency, tasks, seconds, burst].includes(null))
    return { wish: null, fault: 'Numbers over 0, please.' }
  if (tasks === undefined && (seconds ?? burst) !== undefined) {
    return { wish: null, fault: 'Say how many tasks the rate allows.' }
  }
  const rate = tasks ? { tasks, per_seconds: seconds ?? 1, burst: burst ?? 1 } : null
  const wish: LimitsWish = {
    concurrency: concurrency && concurrency !== file.concurrency ? concurrency : null,
    rate: rate && !isSame(rate, file.rate) ? rate : null,
  }
  const isSomething = wish.concurrency !== null || wish.rate !== null
  return isSomething ? { wish, fault: null } : { wish: null, fault: 'That is what its file says.' }
}

type Rate = NonNullable<LimitsWish['rate']>

function isSame(one: Rate, other: Rate | null): boolean {
  return (
    other !== null &&
    one.tasks === other.tasks &&
    one.per_seconds === other.per_seconds &&
    one.burst === other.burst
  )
}
