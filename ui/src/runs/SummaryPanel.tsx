// A run in numbers, always in sight: how far, how fast, how long still, what it spends, and category by category.
import type { ReactNode } from 'react'
import { briefly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { paceOf } from '@/live/pace'
import { useLiveNow } from '@/live/useLiveNow'
import { projectedCost, timeLeft } from './projection'
import { percentDone, rate, runParts, SegmentBar, SpendMeter, segmentsOf } from './signs'
import { stretches, workedMs } from './spans'
import { doneItems, isOver } from './states'
import type { CategoryProgress, Run, RunEvent, Summary } from './types'

type Props = { run: Run; summary: Summary | undefined; moves: RunEvent[] | undefined }

export function SummaryPanel({ run, summary, moves }: Props) {
  return (
    <section
      aria-label="Summary"
      className="grid rounded-lg border border-line bg-panel shadow-raised max-lg:divide-y max-lg:divide-line lg:grid-cols-2 lg:divide-x lg:divide-line"
    >
      <div className="flex flex-col gap-4 p-4">
        <Progress run={run} />
        <Pace run={run} moves={moves ?? []} />
      </div>
      <div className="flex flex-col gap-4 p-4">
        <Budget run={run} />
        {summary && summary.categories.length > 0 && <Categories categories={summary.categories} />}
      </div>
    </section>
  )
}

function Progress({ run }: { run: Run }) {
  const segments = segmentsOf(runParts(run))
  return (
    <div>
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h2 className="font-semibold">Progress</h2>
        <span>
          <span className="text-lg font-semibold">{percentDone(run)} %</span>{' '}
          <span className="text-soft">
            {doneItems(run).toLocaleString('en')} of {run.total_items.toLocaleString('en')}
          </span>
        </span>
      </div>
      <SegmentBar label="Progress" segments={segments} className="h-3" />
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {segments.map(({ name, count, colour }) => (
          <li key={name} className={`flex items-center gap-1.5 ${count > 0 ? '' : 'text-soft'}`}>
            <span aria-hidden className={`size-2 rounded-full ring-1 ring-edge/40 ring-inset ${colour}`} />
            {count.toLocaleString('en')} {name}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Pace({ run, moves }: { run: Run; moves: RunEvent[] }) {
  const now = useLiveNow()
  const worked = workedMs(stretches(moves), now)
  const average = worked > 1000 ? (doneItems(run) / worked) * 1000 : null
  const pace = run.status === 'running' ? paceOf(run.id) : null
  const left = timeLeft(run, [pace, average])
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-4">
      <Figure term="Rate now">{rate(pace)}</Figure>
      <Figure term="Average">{rate(average)}</Figure>
      <Figure term={isOver(run) ? 'Took' : 'Time left'}>
        {isOver(run) ? briefly(worked) : left ? range(left) : '–'}
      </Figure>
      <Figure term="Last checkpoint">
        {run.checkpoint ? <Since at={run.checkpoint.at} items={run.checkpoint.items} /> : '–'}
      </Figure>
    </dl>
  )
}

function Figure({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{term}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  )
}

/** `2 min to 3 min`, or one of them where they say the same. */
function range([least, most]: [number, number]): string {
  const [from, to] = [briefly(least * 1000), briefly(most * 1000)]
  return from === to || most < 5 ? to : `${from} to ${to}`
}

function Since({ at, items }: { at: string; items: number }) {
  const age = useLiveNow() - Date.parse(at)
  return (
    <>
      {age < 3_600_000 ? `${briefly(Math.max(0, age))} ago` : at.slice(0, 16).replace('T', ' ')}
      <span className="block text-xs font-normal text-soft">item {items.toLocaleString('en')}</span>
    </>
  )
}

function Budget({ run }: { run: Run }) {
  const { actual_cost_micros: spent, reserved_cost_micros: reserved, budget_cap_micros: most } = run
  return (
    <div>
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h2 className="font-semibold">Budget</h2>
        <span>
          <span className="text-lg font-semibold">{money(spent)}</span>{' '}
          <span className="text-soft">of {money(most)}</span>
        </span>
      </div>
      <SpendMeter run={run} className="h-3" hasTick />
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        <li>{money(spent)} spent</li>
        <li className={reserved > 0 ? '' : 'text-soft'}>{money(reserved)} reserved</li>
        <li>{money(most - spent - reserved)} left</li>
        <li className="text-soft">warns at {run.soft_warning_percent} %</li>
        {!isOver(run) && <li className="text-soft">ends at about {money(projectedCost(run))}</li>}
      </ul>
    </div>
  )
}

function Categories({ categories }: { categories: CategoryProgress[] }) {
  return (
    <div>
      <h2 className="mb-1.5 font-semibold">Categories</h2>
      <ul className="flex max-h-48 flex-col gap-1.5 overflow-y-auto">
        {categories.map((one) => (
          <li
            key={one.category}
            className="grid grid-cols-[7rem_minmax(0,1fr)_auto] items-center gap-3 text-xs"
          >
            <span className="truncate" title={one.category}>
              {one.category}
            </span>
            <SegmentBar
              label={`Progress of ${one.category}`}
              segments={segmentsOf({
                done: one.completed,
                failed: one.failed,
                skipped: one.skipped,
                inFlight: one.in_flight,
                total: one.items,
              })}
            />
            <span className="text-soft">
              {(one.completed + one.failed + one.skipped).toLocaleString('en')} of{' '}
              {one.items.toLocaleString('en')} · {money(one.cost_micros)}
              {one.dropped && ' · dropped'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
