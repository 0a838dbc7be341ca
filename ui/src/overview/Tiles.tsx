// How it all stands in a few numbers; each leads to the list behind it.
import { briefly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { percentText } from '@/platforms/signs'
import type { Flow, Overview, Spend } from './api'
import { Tile } from './Tile'

const LATE_S = 15 * 60
const MANY_FAIL = 0.2
const SOME_FAIL = 0.05

export function Tiles({ seen }: { seen: Overview }) {
  const { flow, spend, seeds } = seen
  return (
    <section aria-label="In numbers" className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4">
      {flow && (
        <>
          <Tile label="Jobs a minute, in and out" to="/jobs" value={<InOut flow={flow} />}>
            {flow.live.toLocaleString('en')} under way
          </Tile>
          <OldestTile flow={flow} />
          <FailureTile flow={flow} />
        </>
      )}
      {spend && <SpendTile spend={spend} />}
      {!flow && seeds && (
        <Tile label="Seeds due" to="/seeds?due=true" value={seeds.overdue.toLocaleString('en')}>
          {seeds.minutes.reduce((sum, one) => sum + one, 0).toLocaleString('en')} more within the hour
        </Tile>
      )}
    </section>
  )
}

function InOut({ flow }: { flow: Flow }) {
  const number = (rate: number) => rate.toLocaleString('en', { maximumFractionDigits: 1 })
  return (
    <>
      {number(flow.accepted_per_minute)}
      <span className="px-1.5 font-normal text-soft" aria-hidden>
        →
      </span>
      <span className="sr-only"> in, </span>
      {number(flow.ended_per_minute)}
      <span className="sr-only"> out</span>
    </>
  )
}

function OldestTile({ flow: { worst, pending } }: { flow: Flow }) {
  const seconds = worst?.oldest_pending_seconds ?? null
  return (
    <Tile
      label="Oldest pending"
      to={worst ? `/jobs?platform=${worst.platform}&status=pending` : '/jobs?status=pending'}
      tone={seconds === null ? 'neutral' : seconds > LATE_S ? 'warn' : undefined}
      value={seconds === null ? 'none' : briefly(seconds * 1000)}
    >
      {worst ? `at ${worst.platform}, ${pending.toLocaleString('en')} pending in all` : 'nothing waits'}
    </Tile>
  )
}

function FailureTile({ flow: { ended, failed } }: { flow: Flow }) {
  const rate = ended > 0 ? failed / ended : null
  const tone = rate === null ? 'neutral' : rate >= MANY_FAIL ? 'bad' : rate >= SOME_FAIL ? 'warn' : 'good'
  return (
    <Tile
      label="Failing, last 15 min"
      to="/jobs?status=failed,timed_out,partial"
      tone={tone}
      value={rate === null ? 'none' : percentText(rate)}
    >
      {ended > 0 ? `${failed.toLocaleString('en')} of ${ended.toLocaleString('en')} jobs` : 'nothing ended'}
    </Tile>
  )
}

function SpendTile({ spend }: { spend: Spend }) {
  const { spent_micros: spent, reserved_micros: reserved, cap_micros: most } = spend
  const share = most > 0 ? Math.min(100, (100 * (spent + reserved)) / most) : 0
  const words = `${money(spent)}${reserved > 0 ? ` and ${money(reserved)} reserved` : ''} of ${money(most)}`
  return (
    <Tile
      label="Spent today, incl. reserved"
      to="/budgets"
      tone={share >= 80 ? 'warn' : undefined}
      value={money(spent + reserved)}
    >
      {most > 0 ? (
        <span className="flex items-center gap-2">
          {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> each in their own way */}
          <span
            role="meter"
            aria-label="Spent today"
            aria-valuenow={spent + reserved}
            aria-valuemin={0}
            aria-valuemax={most}
            aria-valuetext={words}
            className="h-1.5 flex-1 overflow-hidden rounded-full bg-line"
          >
            <span
              className={`block h-full ${share >= 80 ? 'bg-warn' : 'bg-accent'}`}
              style={{ width: `${share}%` }}
            />
          </span>
          of {money(most)}
        </span>
      ) : (
        'no run spent anything'
      )}
    </Tile>
  )
}
