// What became of jobs over the last hours, stacked, and how many were under way. Loaded only where it is looked at.
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { axisOf, hover, inkOf, momentOf, timed } from '@/kit/plot'
import { useTheme } from '@/shell/theme'
import type { Flow } from './api'

const HEIGHT_PX = 200
const SYNC = uPlot.sync('overview')

type Props = { flow: Flow; words: string; kind: 'outcomes' | 'depth' }

export default function FlowChart({ flow, words, kind }: Props) {
  const home = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const element = home.current
    if (!element) return
    const made = kind === 'outcomes' ? outcomes(element, flow) : depth(element, flow)
    const plugins = [hover((index) => inWords(flow, index, kind))]
    const chart = new uPlot({ ...made.options, plugins }, made.data, element)
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      chart.destroy()
    }
  }, [flow, kind, theme])
  return <div ref={home} role="img" aria-label={words} className="w-full overflow-hidden" />
}

function inWords({ moments }: Flow, index: number, kind: Props['kind']): string[] {
  const one = moments[index]
  if (!one) return []
  const from = `from ${momentOf(Date.parse(one.at) / 1000)} on`
  return kind === 'outcomes'
    ? [from, `${one.completed} completed`, `${one.failed} failed`, `${one.cancelled} cancelled`]
    : [from, `${one.live} under way`, `${one.accepted} accepted`]
}

function frame(element: HTMLElement, series: uPlot.Series[]): uPlot.Options {
  const axis = axisOf(element)
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, sync: { key: SYNC.key } },
    // From nothing up, and never flat on the ground.
    scales: { y: { range: (_chart, _least, most) => [0, Math.max(4, most * 1.1)] } },
    axes: [
      { ...axis, values: timed, space: 72, size: 28 },
      { ...axis, size: 44, values: (_chart, ticks) => ticks.map((one) => (one % 1 ? '' : String(one))) },
    ],
    series: [{}, ...series],
  }
}

/** A step that a line goes up and down by, so that what happened in a minute fills that minute. */
const stepped = () => uPlot.paths.stepped?.({ align: 1 }) ?? null

function outcomes(element: HTMLElement, { moments }: Flow) {
  const area = (name: string): uPlot.Series => ({
    ...{ stroke: inkOf(element, name), fill: inkOf(element, `${name}-wash`), width: 1.5 },
    ...{ points: { show: false }, paths: stepped() ?? undefined },
  })
  const times = moments.map(({ at }) => Date.parse(at) / 1000)
  // Stacked: each stands on those before it, and the tallest is drawn first.
  const failed = moments.map((one) => one.failed)
  const ended = moments.map((one) => one.failed + one.completed)
  const all = moments.map((one) => one.failed + one.completed + one.cancelled)
  const options = frame(element, [
    { ...area('edge'), fill: inkOf(element, 'line') },
    area('good'),
    area('bad'),
  ])
  return { options, data: [times, all, ended, failed] as uPlot.AlignedData }
}

function depth(element: HTMLElement, { moments }: Flow) {
  const times = moments.map(({ at }) => Date.parse(at) / 1000)
  const line = { width: 1.5, points: { show: false } }
  const options = frame(element, [
    { ...line, stroke: inkOf(element, 'accent'), fill: inkOf(element, 'accent-wash') },
    { ...line, stroke: inkOf(element, 'warn'), dash: [5, 4] },
  ])
  const data = [times, moments.map((one) => one.live), moments.map((one) => one.accepted)]
  return { options, data: data as uPlot.AlignedData }
}
