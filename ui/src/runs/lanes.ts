// Lays runs out in lanes: where each bar begins and ends, and in which row of its lane it stands.
import { written } from '@/kit/zone'
import type { History, Past, Span } from './types'

const MOST_LANES = 12
const TICKS = 4
const LEAST_MS = 10 * 60_000

export type Piece = { span: Span; left: number; width: number }
export type Bar = { past: Past; row: number; left: number; width: number; pieces: Piece[] }
export type Lane = { name: string; collector: string; category: string; rows: number; bars: Bar[] }

export function lanesOf(history: History, items: Past[]): { lanes: Lane[]; left: number } {
  const [since, now] = [Date.parse(history.since), Date.parse(history.now)]
  const found = new Map<string, Lane & { ends: number[] }>()
  // Oldest first, so that those that came earlier stand above.
  for (const past of [...items].reverse()) {
    const bar = barOf(past, since, now)
    if (!bar) continue
    for (const category of past.run.categories) {
      const name = `${past.run.collector} / ${category}`
      const lane = found.get(name) ?? {
        name,
        collector: past.run.collector,
        category,
        rows: 0,
        bars: [],
        ends: [],
      }
      found.set(name, lane)
      // The first row that is free again, or a new one.
      const free = lane.ends.findIndex((end) => end <= bar.left)
      const row = free < 0 ? lane.ends.length : free
      lane.ends[row] = bar.left + Math.max(bar.width, 1)
      lane.rows = lane.ends.length
      lane.bars.push({ ...bar, row })
    }
  }
  const lanes = [...found.values()].sort((one, other) => one.name.localeCompare(other.name))
  return { lanes: lanes.slice(0, MOST_LANES), left: Math.max(0, lanes.length - MOST_LANES) }
}

function barOf(past: Past, since: number, now: number): Bar | null {
  const spans = past.spans.filter(
    ({ state }, index) => state !== 'pending' || index > 0 || past.run.started_at === null,
  )
  const first = spans[0]
  if (!first) return null
  const clipped = (time: string | null) => Math.min(now, Math.max(since, time ? Date.parse(time) : now))
  const from = clipped(first.from_at)
  const end = spans.at(-1)?.to_at ?? null
  const to = clipped(end)
  // A window that is fixed may have left it behind, or end before it began.
  if (Date.parse(first.from_at) > now || (end !== null && Date.parse(end) < since)) return null
  const whole = Math.max(1, to - from)
  const pieces = spans.map((span) => ({
    span,
    left: (100 * (clipped(span.from_at) - from)) / whole,
    width: (100 * (clipped(span.to_at) - clipped(span.from_at))) / whole,
  }))
  const share = (time: number) => (100 * time) / (now - since)
  return { past, row: 0, left: share(from - since), width: share(to - from), pieces }
}

/** The same, from a little before the first of its runs on. */
export function fitted(history: History): History {
  const now = Date.parse(history.now)
  const firsts = history.items.map(({ run }) => Date.parse(run.started_at ?? run.created_at))
  const span = Math.max(LEAST_MS, (now - Math.min(now, ...firsts)) * 1.05)
  const since = new Date(Math.max(Date.parse(history.since), now - span)).toISOString()
  return { ...history, since }
}

export function ticksOf(history: History): { at: string; label: string; left: number }[] {
  const [since, now] = [Date.parse(history.since), Date.parse(history.now)]
  const isLong = now - since > 48 * 3_600_000
  return Array.from({ length: TICKS }, (_, index) => {
    const left = (100 * index) / TICKS
    const { date, time } = written(since + ((now - since) * index) / TICKS)
    return { at: `${date} ${time}`, label: isLong ? date.slice(5) : time.slice(0, 5), left }
  }).filter(({ left }) => left > 0)
}
