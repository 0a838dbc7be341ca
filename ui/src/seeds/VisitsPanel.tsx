// How the visits of a seed went: what they found and what became of the interval, drawn and in a table.
import { lazy, Suspense, useState } from 'react'
import { Ahead } from '@/kit/Ahead'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useVisits } from './api'
import { OutcomeMark } from './signs'
import { roughly } from './spans'
import type { Seed, Visit } from './types'

// Who looks at no chart does not load what draws it.
const VisitsChart = lazy(() => import('./VisitsChart'))
const FEW = 10

export function VisitsPanel({ seed }: { seed: Seed }) {
  const { data, error, refetch, isFetching } = useVisits(seed)
  const visits = data?.items
  return (
    <Panel
      title="Visits"
      lead={visits?.length ? inWords(visits) : 'What each found, and how the interval moved.'}
    >
      <Ahead
        of="visits"
        error={error}
        isThere={visits !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-64"
        isInPanel
      />
      {visits?.length === 0 && (
        <p className="px-4 py-8 text-center text-soft">
          No visit has ended yet. Each one that does is drawn here.
        </p>
      )}
      {visits && visits.length > 0 && (
        <>
          <div className="min-h-57 px-2 pt-3">
            <Suspense fallback={<div role="status" aria-label="Drawing" className="skeleton mx-2 h-52" />}>
              <VisitsChart seed={seed} visits={visits} />
            </Suspense>
          </div>
          <Latest visits={visits} />
        </>
      )}
    </Panel>
  )
}

function inWords(visits: Visit[]): string {
  const found = visits.reduce((sum, visit) => sum + (visit.found ?? 0), 0)
  const failed = visits.filter(({ outcome }) => outcome !== 'ok').length
  const many = visits.length === 1 ? 'The last visit' : `The last ${visits.length} visits`
  const bad = failed > 0 ? `; ${failed} did not go well` : ''
  return `${many} found ${found.toLocaleString('en')} new ${found === 1 ? 'thing' : 'things'}${bad}.`
}

const COLUMNS = {
  at: { title: 'When' },
  outcome: { title: 'Outcome' },
  found: { title: 'Found', isNumber: true, from: 'sm' },
  interval: { title: 'Interval', isNumber: true },
  owner: { title: 'By', from: 'lg' },
} satisfies Record<string, Column>

function Latest({ visits }: { visits: Visit[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? visits : visits.slice(0, FEW)
  return (
    <div className="mt-3 border-t border-line">
      <Table label="Visits" columns={Object.values(COLUMNS)}>
        {shown.map((visit) => (
          <Row key={visit.number} visit={visit} />
        ))}
      </Table>
      {visits.length > FEW && (
        <div className="flex min-h-12 items-center justify-between gap-4 border-t border-line px-4 py-2 text-xs text-soft">
          <p aria-live="polite">
            {shown.length} of the last {visits.length} visits
          </p>
          <Button onClick={() => setWhole(!isWhole)}>{isWhole ? 'Show fewer' : 'Show all'}</Button>
        </div>
      )}
    </div>
  )
}

function Row({ visit }: { visit: Visit }) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.at} className="text-soft">
        <Moment at={visit.at} />
      </Cell>
      <Cell column={COLUMNS.outcome}>
        <OutcomeMark outcome={visit.outcome}>
          {visit.found !== null && (
            <span className="whitespace-nowrap text-soft sm:hidden">· {visit.found} found</span>
          )}
        </OutcomeMark>
        {visit.reason && <p className="text-xs text-soft [overflow-wrap:anywhere]">{visit.reason}</p>}
      </Cell>
      <Cell column={COLUMNS.found} className="tabular-nums">
        {visit.found?.toLocaleString('en') ?? '–'}
      </Cell>
      <Cell column={COLUMNS.interval} className="tabular-nums">
        <Change visit={visit} />
      </Cell>
      <Cell column={COLUMNS.owner} className="text-soft [overflow-wrap:anywhere]">
        {visit.owner}
      </Cell>
    </tr>
  )
}

function Change({ visit: { previous_interval_seconds: before, interval_seconds: after } }: { visit: Visit }) {
  if (before === after) return <span className="text-soft">stays {roughly(after)}</span>
  return (
    <>
      <span className="whitespace-nowrap text-soft">{roughly(before)}</span>{' '}
      <span className="whitespace-nowrap">
        <span aria-hidden className="text-soft">
          →
        </span>
        <span className="sr-only">to</span> {roughly(after)}
      </span>
    </>
  )
}
