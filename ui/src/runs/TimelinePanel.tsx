// What runs did when: a lane for each category, a bar for each run in it, hatched where it was paused.
import { useMemo } from 'react'
import { Link } from 'react-router'
import { Ahead } from '@/kit/Ahead'
import { exactly } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { asMoment, momentMs } from '@/kit/sharing'
import { useUrlText } from '@/kit/useUrlText'
import { written } from '@/kit/zone'
import type { useHistory } from './api'
import { type Bar, fitted, type Lane, lanesOf, ticksOf } from './lanes'
import { pathOf, spendingText } from './signs'
import { doneItems, PAUSES, STATUSES } from './states'
import type { History, Past, Span } from './types'
import { useBrush } from './useBrush'

// The first asks for a week and draws as much of it as there is something in.
const WINDOWS = { fit: 168, '1h': 1, '6h': 6, '1d': 24, '7d': 168, '30d': 720 }
type Name = keyof typeof WINDOWS
const USUAL: Name = 'fit'

// A link that was shared may be about a time long ago; the server goes back a year.
const MOST_HOURS = 24 * 366

export function useWindow() {
  const [text, setName] = useUrlText('tw')
  const [from, setFrom] = useUrlText('from')
  const [to, setTo] = useUrlText('to')
  const fixed = useMemo(() => fixedOf(from, to), [from, to])
  const name = text in WINDOWS ? (text as Name) : USUAL
  return {
    name: fixed ? null : name,
    /** From when to when, where the address says so. */
    fixed,
    hours: fixed ? fixed.hours : WINDOWS[name],
    set(next: Name) {
      setFrom('')
      setTo('')
      setName(next === USUAL ? '' : next)
    },
    zoom(fromMs: number, toMs: number) {
      setFrom(asMoment(fromMs))
      // To the second: a stretch of none would show nothing.
      setTo(asMoment(Math.max(toMs, fromMs + 1000)))
    },
  }
}

type Fixed = { since: string; now: string; hours: number }

function fixedOf(from: string, to: string): Fixed | null {
  const [since, until] = [momentMs(from), momentMs(to)]
  if (since === undefined || until === undefined || since >= until) return null
  const hours = Math.ceil((Date.now() - since) / 3_600_000)
  return { since: from, now: to, hours: Math.min(MOST_HOURS, Math.max(1, hours)) }
}

type Props = {
  query: ReturnType<typeof useHistory>
  chosen: string[]
  /** Whose runs alone. */
  by?: string
  timeWindow: ReturnType<typeof useWindow>
}

export function TimelinePanel({ query, chosen, by, timeWindow }: Props) {
  const { name, fixed } = timeWindow
  const { data, error, refetch, isFetching } = query
  return (
    <Panel
      title="Timeline"
      lead={`${fixed ? `${exactly(fixed.since)} to ${exactly(fixed.now)}. ` : ''}One lane for each category; hatched is paused. Draw over a stretch to see it alone.`}
      action={<Windows chosen={name} onChoose={timeWindow.set} />}
    >
      <Ahead
        of="timeline"
        error={error}
        isThere={data !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-24"
        isInPanel
      />
      {data && (
        <Lanes
          history={fixed ? { ...data, ...fixed } : name === 'fit' ? fitted(data) : data}
          isFixed={fixed !== null}
          onZoom={timeWindow.zoom}
          isWanted={({ run }) =>
            (chosen.length === 0 || chosen.includes(run.status)) && (!by || run.created_by === by)
          }
        />
      )}
    </Panel>
  )
}

function Windows({ chosen, onChoose }: { chosen: Name | null; onChoose: (name: Name) => void }) {
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">How far back</legend>
      {(Object.keys(WINDOWS) as Name[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen}
          onClick={() => onChoose(name)}
          className="h-6 rounded px-2 text-xs text-soft hover:text-ink aria-pressed:bg-hover aria-pressed:font-medium aria-pressed:text-ink"
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}

type LanesProps = {
  history: History
  isFixed: boolean
  isWanted: (past: Past) => boolean
  onZoom: (fromMs: number, toMs: number) => void
}

function Lanes({ history, isFixed, isWanted, onZoom }: LanesProps) {
  const [since, now] = [Date.parse(history.since), Date.parse(history.now)]
  const brush = useBrush((from, to) => onZoom(since + from * (now - since), since + to * (now - since)))
  const items = history.items.filter(isWanted)
  const { lanes, left } = lanesOf(history, items)
  if (lanes.length === 0) return <p className="px-4 py-6 text-center text-soft">No run within this time.</p>
  return (
    <div className="relative px-4 pt-3 pb-2 select-none" {...brush.handlers}>
      <div aria-hidden className={`${GRID} pointer-events-none absolute inset-0 px-4`}>
        <div ref={brush.area} className="relative col-start-2">
          {brush.stretch && (
            <span
              className="absolute inset-y-1 z-10 rounded-sm border-x border-accent bg-accent/15"
              style={{ left: `${brush.stretch.left}%`, width: `${brush.stretch.width}%` }}
            />
          )}
        </div>
      </div>
      <ul aria-label="Timeline of runs" className="flex flex-col">
        {lanes.map((lane) => (
          <LaneRow key={lane.name} lane={lane} />
        ))}
      </ul>
      <Ticks history={history} isFixed={isFixed} />
      {left > 0 && (
        <p className="pt-1 text-xs text-soft">{left} more categories had runs within this time.</p>
      )}
    </div>
  )
}

const GRID = 'grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 sm:grid-cols-[10rem_minmax(0,1fr)]'

function LaneRow({ lane }: { lane: Lane }) {
  return (
    <li className={`${GRID} border-b border-line py-1`}>
      <span className="truncate text-xs/5" title={lane.name}>
        <span className="text-soft">{lane.collector}</span> {lane.category}
      </span>
      <div className="relative border-r-2 border-accent" style={{ height: `${lane.rows * 1.25}rem` }}>
        {lane.bars.map((bar) => (
          <BarLink key={bar.past.run.id} bar={bar} />
        ))}
      </div>
    </li>
  )
}

const FILLS: Record<string, string> = {
  pending: 'bg-edge/50',
  running: 'bg-accent',
  completed: 'bg-good',
  failed: 'bg-bad',
  cancelled: 'bg-soft',
}

function BarLink({ bar }: { bar: Bar }) {
  const { past, row, left, width } = bar
  return (
    <Link
      to={pathOf(past.run.id)}
      aria-label={described(past)}
      title={described(past)}
      className="absolute h-4 min-w-1.5 overflow-hidden rounded-sm hover:brightness-110"
      // A moment that has just begun must not stand beyond now.
      style={{ left: `min(${left}%, calc(100% - 6px))`, width: `${width}%`, top: `${row * 1.25 + 0.125}rem` }}
    >
      {bar.pieces.map((piece) => (
        <span
          key={piece.span.from_at}
          className={`absolute inset-y-0 ${fill(past, piece.span)}`}
          style={{ left: `${piece.left}%`, width: `${piece.width}%` }}
        />
      ))}
    </Link>
  )
}

/** What it came to gives a run that is over its colour; what it is doing, one that is not. */
function fill({ run }: Past, span: Span): string {
  const colour = FILLS[run.status === 'paused' ? 'running' : run.status]
  if (span.state === 'paused') return 'hatched bg-warn'
  return span.state === 'pending' ? (FILLS.pending ?? '') : (colour ?? '')
}

function described({ run }: Past): string {
  const why = run.pause_reason ? ` (${PAUSES[run.pause_reason].label})` : ''
  const items = `${doneItems(run)} of ${run.total_items} items`
  return `${run.name}: ${STATUSES[run.status].label.toLowerCase()}${why}, ${items}, ${spendingText(run)}`
}

function Ticks({ history, isFixed }: { history: History; isFixed: boolean }) {
  return (
    <div aria-hidden className={GRID}>
      <span />
      <div className="relative h-5 text-2xs text-soft">
        {ticksOf(history).map(({ at, label, left }) => (
          <time
            key={at}
            dateTime={at}
            title={exactly(at)}
            className="absolute top-1 -translate-x-1/2 whitespace-nowrap"
            style={{ left: `${left}%` }}
          >
            {label}
          </time>
        ))}
        <span className="absolute top-1 right-0 font-medium text-accent">
          {isFixed ? written(Date.parse(history.now)).time.slice(0, 5) : 'now'}
        </span>
      </div>
    </div>
  )
}
