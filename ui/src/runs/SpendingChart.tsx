// What was spent by when, as a line that climbs towards the cap. Loaded only where it is looked at.
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { ChartKey } from '@/kit/ChartKey'
import { money } from '@/kit/money'
import { axisOf, hover, inkOf, momentOf, timed } from '@/kit/plot'
import { useTheme } from '@/shell/theme'
import type { Run, Summary } from './types'

const HEIGHT_PX = 224

type Props = { run: Run; spending: Summary['spending'] }

export default function SpendingChart({ run, spending }: Props) {
  const home = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const cap = run.budget_cap_micros
  const soft = (cap * run.soft_warning_percent) / 100
  const last = spending.at(-1)
  const top = topOf(run, last?.spent_micros ?? 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const element = home.current
    if (!element) return
    const data = dataOf(run, spending, cap, soft)
    const plugins = [hover((index) => inWords(data, index, cap))]
    const chart = new uPlot({ ...options(element, top), plugins }, data, element)
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      chart.destroy()
    }
  }, [spending, cap, soft, top, theme, run.started_at])
  const words = `${money(last?.spent_micros ?? 0)} spent of ${money(cap)}; it warns from ${money(soft)} on.`
  return (
    <figure>
      <div ref={home} role="img" aria-label={words} className="w-full overflow-hidden" />
      <figcaption className="mt-1 flex flex-wrap gap-x-4 text-xs text-soft">
        <ChartKey colour="bg-accent">spent</ChartKey>
        <ChartKey colour="bg-soft">estimate {money(run.estimated_cost_micros)}</ChartKey>
        <ChartKey colour="bg-warn">
          soft limit {money(soft)}
          {soft > top && ' (above)'}
        </ChartKey>
        <ChartKey colour="bg-bad">
          cap {money(cap)}
          {cap > top && ' (above)'}
        </ChartKey>
      </figcaption>
    </figure>
  )
}

/** So high that the cap is on it, unless that would press the line to the ground. */
function topOf(run: Run, spent: number): number {
  const likely = Math.max(spent, run.estimated_cost_micros, 1)
  return (run.budget_cap_micros <= 4 * likely ? Math.max(likely, run.budget_cap_micros) : likely) * 1.1
}

function dataOf(run: Run, spending: Summary['spending'], cap: number, soft: number): uPlot.AlignedData {
  const began = Date.parse(run.started_at ?? run.created_at) / 1000
  const times = [began, ...spending.map(({ at }) => Date.parse(at) / 1000)]
  const spent = [0, ...spending.map(({ spent_micros }) => spent_micros)]
  const flat = (micros: number) => times.map(() => micros)
  return [times, spent, flat(run.estimated_cost_micros), flat(soft), flat(cap)]
}

function inWords([times, spent]: uPlot.AlignedData, index: number, cap: number): string[] {
  const micros = spent?.[index] ?? 0
  return [momentOf(times[index] ?? 0), `${money(micros)} spent`, `${money(cap - micros)} to the cap`]
}

function options(element: HTMLElement, top: number): uPlot.Options {
  const probe = (name: string) => inkOf(element, name)
  const axis = axisOf(element)
  const flat = { width: 1.5, dash: [6, 4], points: { show: false } }
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: { y: { range: [0, top] } },
    axes: [
      { ...axis, values: timed, space: 72 },
      { ...axis, size: 64, values: (_chart, ticks) => ticks.map((micros) => money(micros)) },
    ],
    series: [
      {},
      { stroke: probe('accent'), fill: probe('accent-wash'), width: 2, points: { show: false } },
      { ...flat, stroke: probe('soft') },
      { ...flat, stroke: probe('warn') },
      { ...flat, stroke: probe('bad') },
    ],
  }
}
