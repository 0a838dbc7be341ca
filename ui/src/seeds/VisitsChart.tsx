// What each visit found, as bars, and the interval as a line of steps over them. Loaded only where it is looked at.
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { ChartKey } from '@/kit/ChartKey'
import { exactly } from '@/kit/Moment'
import { axisOf, hover, inkOf } from '@/kit/plot'
import { useZone, type Zone } from '@/kit/zone'
import { useTheme } from '@/shell/theme'
import { datesOf, lengthsWithin } from './scales'
import { roughly } from './spans'
import { OUTCOMES } from './states'
import type { Seed, Visit } from './types'

const HEIGHT_PX = 208

type Props = { seed: Seed; visits: Visit[] }

export default function VisitsChart({ seed, visits }: Props) {
  const home = useRef<HTMLDivElement>(null)
  const [theme, zone] = [useTheme(), useZone()]
  const now = seed.interval_seconds
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const element = home.current
    if (!element) return
    const old = visits.toReversed()
    const plugins = [hover((index) => inWords(old[index], now))]
    const chart = new uPlot({ ...options(element, zone), plugins }, dataOf(old, now), element)
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      chart.destroy()
    }
  }, [visits, now, theme, zone])
  return (
    <figure>
      <div ref={home} role="img" aria-label={summary(visits, now)} className="w-full overflow-hidden" />
      <figcaption className="mt-1 flex flex-wrap gap-x-4 px-2 text-xs text-soft">
        <ChartKey colour="bg-accent">new things found</ChartKey>
        <ChartKey colour="bg-warn">interval</ChartKey>
        <ChartKey colour="bg-bad">did not go well</ChartKey>
      </figcaption>
    </figure>
  )
}

function summary(visits: Visit[], now: number): string {
  const most = Math.max(0, ...visits.map(({ found }) => found ?? 0))
  const first = visits.at(-1)?.previous_interval_seconds ?? now
  return `${visits.length} ${visits.length === 1 ? 'visit' : 'visits'}, each found ${most} new things at the most. The interval went from ${roughly(first)} to ${roughly(now)}.`
}

function inWords(visit: Visit | undefined, now: number): string[] {
  if (!visit) return ['Now', `every ${roughly(now)}`]
  const { outcome, found, previous_interval_seconds: before, interval_seconds: after } = visit
  const moved = before === after ? `every ${roughly(after)}` : `${roughly(before)} → ${roughly(after)}`
  return [exactly(visit.at), outcome === 'ok' ? `${found} found` : OUTCOMES[outcome].label, moved]
}

/** Each visit from the oldest on, and the present: until then the last interval holds. */
function dataOf(visits: Visit[], now: number): uPlot.AlignedData {
  const times = visits.map(({ at }) => Date.parse(at) / 1000)
  const present = Math.max(Date.now() / 1000, (times.at(-1) ?? 0) + 1)
  const found = visits.map((visit) => visit.found)
  const bad = visits.map(({ outcome }) => (outcome === 'ok' ? null : 0))
  const intervals = visits.map((visit) => visit.interval_seconds)
  return [
    [...times, present],
    [...found, null],
    [...bad, null],
    [...intervals, now],
  ]
}

function options(element: HTMLElement, zone: Zone): uPlot.Options {
  const axis = axisOf(element)
  const [accent, warn, bad] = [inkOf(element, 'accent'), inkOf(element, 'warn'), inkOf(element, 'bad')]
  const side: uPlot.Axis = { ...axis, scale: 'interval', side: 1, size: 56, grid: { show: false } }
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    // Dates begin where those do that are written.
    tzDate: (seconds) => inZone(new Date(seconds * 1000), zone),
    scales: {
      x: { range: (_chart, first, last) => [first - (last - first) * 0.03, last + (last - first) * 0.02] },
      y: { range: (_chart, _least, most) => [0, Math.max(4, (most ?? 0) * 1.15)] },
      // It moves by shares of itself: every halving is as high as the next.
      interval: { distr: 3, range: (_chart, least, most) => [(least ?? 60) / 2, (most ?? 60) * 2] },
    },
    axes: [
      { ...axis, values: datesOf, space: 84, size: 28 },
      { ...axis, size: 40, values: (_chart, ticks) => ticks.map((one) => (one % 1 ? '' : String(one))) },
      {
        ...side,
        splits: (_chart, _axis, least, most) => lengthsWithin(least, most),
        filter: (_chart, ticks) => ticks,
        values: (_chart, ticks) => ticks.map((seconds) => roughly(seconds)),
      },
    ],
    series: [
      {},
      {
        stroke: accent,
        fill: accent,
        paths: uPlot.paths.bars?.({ size: [0.6, 20, 3] }),
        points: { show: false },
      },
      { stroke: bad, paths: () => null, points: { show: true, size: 7, fill: bad } },
      {
        ...{ scale: 'interval', stroke: warn, width: 1.5, points: { show: false } },
        paths: uPlot.paths.stepped?.({ align: 1 }),
      },
    ],
  }
}

function inZone(at: Date, zone: Zone): Date {
  return zone === 'utc' ? uPlot.tzDate(at, 'Etc/UTC') : at
}
