// The marks beside a chart of visits: lengths of time that people use, and dates where a day says more than an hour.
import type uPlot from 'uplot'
import { timed } from '@/kit/plot'
import { written } from '@/kit/zone'

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]
const LENGTHS = [
  ...[1, 5, 15, 30],
  ...[1, 5, 15, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 3, 7, 14, 30, 90, 365].map((count) => count * DAY),
]
const MOST_MARKS = 5

/** Lengths of time between two, in seconds; so few that each has room. */
export function lengthsWithin(least: number, most: number): number[] {
  const fit = LENGTHS.filter((length) => length >= least && length <= most)
  const every = Math.ceil(fit.length / MOST_MARKS)
  return fit.filter((_, index) => index % every === 0)
}

/** Times of day within one day; dates, with the time if there is more than one mark a day, beyond. */
export function datesOf(
  chart: uPlot,
  marks: number[],
  _axis: number,
  _space: number,
  apart: number,
): string[] {
  const { min = 0, max = 0 } = chart.scales.x ?? {}
  if ((max ?? 0) - (min ?? 0) <= DAY) return timed(chart, marks)
  return marks.map((seconds) => {
    const { date, time } = written(seconds * 1000)
    return apart >= DAY ? date.slice(5) : `${date.slice(5)} ${time.slice(0, 5)}`
  })
}
