// How long an account rests after each failure in a row; the server's ladder, for showing where on it an account is.
const MINUTE_S = 60
const HOUR_S = 3_600

/** The rest that a failure leads to, by rung. The first failure leads to rung 1. */
export const LADDER_S = [
  0,
  MINUTE_S,
  5 * MINUTE_S,
  15 * MINUTE_S,
  30 * MINUTE_S,
  HOUR_S,
  3 * HOUR_S,
  6 * HOUR_S,
  12 * HOUR_S,
  24 * HOUR_S,
]
export const TOP = LADDER_S.length - 1

export function rest(rung: number): string {
  const seconds = LADDER_S[Math.min(rung, TOP)] ?? 0
  if (seconds === 0) return 'no rest'
  return seconds < HOUR_S ? `${seconds / MINUTE_S} min` : `${seconds / HOUR_S} h`
}
