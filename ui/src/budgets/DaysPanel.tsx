// What runs spent on each of the last days, against an even pace, and where today leads to.
import { Ahead } from '@/kit/Ahead'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { useUrlText } from '@/kit/useUrlText'
import { type SpentDay, useSpending } from '@/runs/api'

const SPANS: Record<string, number> = { '7': 7, '': 30, '90': 90 }
const NAMES = { '7': '7 d', '': '30 d', '90': '90 d' }
const ORDER = ['7', '', '90']
/** Of a bar that has any, so that a cent beside a hundred dollars is still seen. */
const LEAST_PERCENT = 2
const DAY_MS = 86_400_000
/** Earlier than this nobody can say where a day leads to. */
const LEAST_SHARE = 0.05
const TICKS = 4

export function DaysPanel() {
  const [text, setText] = useUrlText('days')
  const chosen = text in SPANS ? text : ''
  const { data, error, refetch, isFetching } = useSpending(SPANS[chosen] ?? 30)
  return (
    <Panel
      title="Day by day"
      lead={data ? inWords(data) : 'What runs spent on each day.'}
      action={
        <Segments label="How many days" value={chosen} options={NAMES} order={ORDER} onChange={setText} />
      }
    >
      <Ahead
        of="days"
        error={error}
        isThere={data !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-36"
        isInPanel
      />
      {data && <Days days={data} />}
    </Panel>
  )
}

/** What one day costs on average, from the first that cost anything on; null where none did. */
function evenly(days: SpentDay[]): number | null {
  const first = days.findIndex(({ spent_micros }) => spent_micros > 0)
  return first < 0 ? null : sumOf(days) / (days.length - first)
}

const sumOf = (days: SpentDay[]) => days.reduce((sum, one) => sum + one.spent_micros, 0)

/** What today will have cost if it goes on like this; null when that cannot be said. */
function leadsTo({ day, spent_micros }: SpentDay): number | null {
  const share = (Date.now() - Date.parse(day)) / DAY_MS
  return share >= LEAST_SHARE && share < 1 && spent_micros > 0 ? spent_micros / share : null
}

function inWords(days: SpentDay[]): string {
  const average = evenly(days)
  const today = days.at(-1)
  const end = today ? leadsTo(today) : null
  const pace = end ? ` At today’s pace ${money(toCents(end))} by midnight UTC.` : ''
  const each = average ? `, ${money(toCents(average))} a day` : ''
  return `${money(sumOf(days))} in ${days.length} days${each}.${pace}`
}

const toCents = (micros: number) => (micros < 1_000_000 ? Math.round(micros) : Math.round(micros / 1e4) * 1e4)

function Days({ days }: { days: SpentDay[] }) {
  const average = evenly(days)
  const last = days.at(-1)
  const end = last ? leadsTo(last) : null
  const most = Math.max(1, end ?? 0, ...days.map(({ spent_micros }) => spent_micros))
  const every = Math.ceil(days.length / TICKS)
  if (average === null) return <p className="px-4 py-6 text-soft">Nothing was spent in these days.</p>
  return (
    <div className="px-4 pt-3 pb-2">
      <div className="relative">
        <ol aria-label="Spent by day" className="flex gap-px sm:gap-0.5">
          {days.map((one, index) => (
            <Bar
              key={one.day}
              spent={one}
              most={most}
              end={one === last ? end : null}
              tick={(days.length - 1 - index) % every === 0 ? tickOf(one, one === last) : ''}
            />
          ))}
        </ol>
        <span
          aria-hidden
          style={{ top: `${9 * (1 - average / most)}rem` }}
          className="pointer-events-none absolute inset-x-0 border-t border-dashed border-warn"
        />
      </div>
      <div className="flex flex-wrap gap-x-4 pt-1 text-xs text-soft">
        <Key look="bg-accent">spent</Key>
        {end !== null && <Key look="hatched bg-accent">at today’s pace, until midnight UTC</Key>}
        <Key look="!h-0 border-t border-dashed border-warn">a day on average</Key>
      </div>
    </div>
  )
}

const tickOf = ({ day }: SpentDay, isToday: boolean) => (isToday ? 'today' : day.slice(5))

type BarProps = { spent: SpentDay; most: number; end: number | null; tick: string }

function Bar({ spent, most, end, tick }: BarProps) {
  const { day, spent_micros: micros, runs } = spent
  const percent = micros > 0 ? Math.max(LEAST_PERCENT, (micros / most) * 100) : 0
  const rest = end ? Math.max(0, ((end - micros) / most) * 100) : 0
  const words = `${day}: ${money(micros)}${runs > 0 ? ` by ${runs} ${runs === 1 ? 'run' : 'runs'}` : ''}`
  return (
    <li title={words} className="group flex min-w-0 flex-1 flex-col">
      <span className="sr-only">{words}</span>
      <span aria-hidden className="flex h-36 flex-col justify-end border-b border-edge group-hover:bg-hover">
        {rest > 0 && (
          <span style={{ height: `${rest}%` }} className="hatched shrink rounded-t-sm bg-accent/60" />
        )}
        <span
          style={{ height: `${percent}%` }}
          className={`shrink-0 bg-accent ${rest > 0 ? '' : 'rounded-t-sm'}`}
        />
      </span>
      {/* Wider than its bar: it may stand out of it, to the left where there is no room on the right. */}
      <span aria-hidden className="flex h-4.5 justify-end text-2xs whitespace-nowrap text-soft">
        {tick}
      </span>
    </li>
  )
}

function Key({ look, children }: { look: string; children: React.ReactNode }) {
  return (
    <span className="flex items-center gap-1.5">
      <span aria-hidden className={`h-2 w-4 ${look}`} />
      {children}
    </span>
  )
}
