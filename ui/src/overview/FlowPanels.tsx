// How jobs came and went: outcomes stacked, how many were under way, and how each platform failed.
import { lazy, type ReactNode, Suspense } from 'react'
import { Link } from 'react-router'
import { ChartKey } from '@/kit/ChartKey'
import { briefly } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { written } from '@/kit/zone'
import type { Flow, Strip } from './api'

// Who looks at no chart does not load what draws it.
const FlowChart = lazy(() => import('./FlowChart'))

export function FlowPanels({ flow }: { flow: Flow }) {
  const sum = (name: 'accepted' | 'completed' | 'failed' | 'cancelled') =>
    flow.moments.reduce((total, one) => total + one[name], 0).toLocaleString('en')
  const step = briefly(flow.step_seconds * 1000)
  const ended = `${sum('completed')} completed, ${sum('failed')} failed and ${sum('cancelled')} cancelled`
  const most = Math.max(...flow.moments.map(({ live }) => live)).toLocaleString('en')
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="What jobs came to" lead={`Every ${step}: ${ended}.`}>
        <Chart>
          <FlowChart flow={flow} kind="outcomes" words={`${ended} jobs.`} />
        </Chart>
        <Legend>
          <ChartKey colour="bg-good">completed</ChartKey>
          <ChartKey colour="bg-bad">failed</ChartKey>
          <ChartKey colour="bg-edge">cancelled</ChartKey>
        </Legend>
      </Panel>
      <Panel title="Under way" lead={`${flow.live.toLocaleString('en')} now, ${most} at the most.`}>
        <Chart>
          <FlowChart
            flow={flow}
            kind="depth"
            words={`${flow.live} jobs under way now, ${most} at the most, ${sum('accepted')} accepted.`}
          />
        </Chart>
        <Legend>
          <ChartKey colour="bg-accent">under way</ChartKey>
          <ChartKey colour="bg-warn">accepted every {step}</ChartKey>
        </Legend>
      </Panel>
    </div>
  )
}

function Chart({ children }: { children: ReactNode }) {
  return (
    <div className="min-h-50 px-2 pt-3">
      <Suspense fallback={<div role="status" aria-label="Drawing" className="skeleton mx-2 h-48" />}>
        {children}
      </Suspense>
    </div>
  )
}

function Legend({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-x-4 px-4 pb-3 text-xs text-soft">{children}</div>
}

const FIVE_MS = 300_000

/** A row for each platform, a cell for each five minutes: the redder, the more attempts failed. */
export function StripsPanel({ strips, at }: { strips: Strip[]; at: string }) {
  return (
    <Panel title="Attempts by platform" lead="The last hour, five minutes at a time: how many failed.">
      {strips.length === 0 ? (
        <p className="px-4 py-6 text-soft">No attempt ended within the last hour.</p>
      ) : (
        <div className="px-4 py-3">
          <table
            aria-label="Attempts by platform"
            className="w-full table-fixed border-separate border-spacing-x-0.5 border-spacing-y-1"
          >
            <tbody>
              {strips.map((strip) => (
                <StripRow key={strip.platform} strip={strip} until={Date.parse(at)} />
              ))}
            </tbody>
          </table>
          <p className="flex justify-between pt-0.5 pl-[6.5rem] text-2xs text-soft" aria-hidden>
            <span>an hour ago</span>
            <span>now</span>
          </p>
        </div>
      )}
    </Panel>
  )
}

function StripRow({ strip, until }: { strip: Strip; until: number }) {
  const steps = strip.failed.length
  return (
    <tr>
      <th scope="row" className="w-24 truncate pr-2 text-left text-xs font-medium">
        <Link to={`/platforms/${strip.platform}`} className="hover:underline">
          {strip.platform}
        </Link>
      </th>
      {strip.failed.map((failed, index) => {
        const all = failed + (strip.succeeded[index] ?? 0)
        const { time } = written(until - (steps - index) * FIVE_MS)
        const words =
          all > 0
            ? `${failed} of ${all} failed from ${time.slice(0, 5)} on`
            : `nothing from ${time.slice(0, 5)} on`
        return (
          <td
            key={time}
            title={words}
            className={`h-6 rounded-xs text-center text-2xs ${shade(failed, all)}`}
          >
            <span className="sr-only">{words}</span>
            <span aria-hidden className="max-sm:hidden">
              {failed > 0 ? failed : ''}
            </span>
          </td>
        )
      })}
    </tr>
  )
}

function shade(failed: number, all: number): string {
  if (all === 0) return 'bg-sunken'
  const rate = failed / all
  if (rate >= 0.5) return 'bg-bad-strong text-white'
  if (rate >= 0.2) return 'bg-bad-wash text-bad'
  return rate >= 0.05 ? 'bg-warn-wash text-warn' : 'bg-good-wash text-good'
}
