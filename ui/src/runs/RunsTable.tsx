// The runs as rows; in a narrow window progress and spending stand under the name.
import { useMemo } from 'react'
import { Link } from 'react-router'
import { CHOOSE, type Choice, ChooseCell } from '@/kit/choosing'
import { useColumns } from '@/kit/columns'
import { Menu } from '@/kit/Menu'
import { briefly, Moment } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useLiveNow } from '@/live/useLiveNow'
import { timeLeft } from './projection'
import { menuOf, type Open } from './RunDialog'
import { ProgressCell, pathOf, rate, SpendMeter, StatusBadge, shortReason, spendingText } from './signs'
import { roughMs, workedMs } from './spans'
import { doneItems } from './states'
import type { History, Run, Span } from './types'

const COLUMNS = {
  choose: CHOOSE,
  state: { title: 'State' },
  name: { title: 'Run', isFixed: true },
  progress: { title: 'Progress', from: 'sm' },
  spending: { title: 'Spending', from: 'sm' },
  estimate: { title: 'Estimate', isNumber: true, isExtra: true },
  rate: { title: 'Rate', isNumber: true, isExtra: true },
  left: { title: 'Time left', isNumber: true, isExtra: true },
  failures: { title: 'Failures', isNumber: true, from: 'lg' },
  by: { title: 'Started by', from: 'xl' },
  duration: { title: 'Duration', isNumber: true, from: 'lg' },
  age: { title: 'Age', isNumber: true, from: 'lg' },
  id: { title: 'Id', isExtra: true },
  actions: { title: 'Actions', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

type Props = {
  runs: Run[] | undefined
  history: History | undefined
  choice: Choice
  onOpen: (open: Open) => void
}

export function RunsTable({ runs, history, choice, onOpen }: Props) {
  const spans = useMemo(
    () => new Map((history?.items ?? []).map((past) => [past.run.id, past.spans])),
    [history],
  )
  const columns = useColumns('runs', COLUMNS)
  return (
    <div data-chooses>
      <Table label="Runs" columns={columns} isLoading={!runs}>
        {runs?.map((run) => (
          <Row key={run.id} run={run} spans={spans.get(run.id)} choice={choice} onOpen={onOpen} />
        ))}
      </Table>
    </div>
  )
}

type RowProps = { run: Run; spans: Span[] | undefined; choice: Choice; onOpen: (open: Open) => void }

function Row({ run, spans, choice, onOpen }: RowProps) {
  const reason = shortReason(run)
  return (
    <tr className={`${ROW} ${choice.chosen.has(run.id) ? 'bg-accent-wash' : ''}`}>
      <ChooseCell id={run.id} name={run.name} choice={choice} />
      <Cell column={COLUMNS.state} className="max-sm:pr-0">
        <StatusBadge run={run} />
        {reason && <div className="max-w-40 text-xs/5 text-soft">{reason}</div>}
      </Cell>
      <Cell column={COLUMNS.name} className="min-w-36 [overflow-wrap:anywhere]">
        <Link to={pathOf(run.id)} className="font-medium text-accent-strong hover:underline">
          {run.name}
        </Link>
        <div className="text-xs/5 text-soft">
          {run.collector}: {run.categories.join(', ')}
        </div>
        <div className="mt-1 flex flex-col gap-1.5 text-xs sm:hidden">
          <ProgressCell run={run} />
          <Spending run={run} />
        </div>
      </Cell>
      <Cell column={COLUMNS.progress}>
        <ProgressCell run={run} />
      </Cell>
      <Cell column={COLUMNS.spending}>
        <Spending run={run} />
      </Cell>
      <Cell column={COLUMNS.estimate}>{money(run.estimated_cost_micros)}</Cell>
      <Cell column={COLUMNS.rate} className="whitespace-nowrap">
        <Average run={run} spans={spans} />
      </Cell>
      <Cell column={COLUMNS.left} className="whitespace-nowrap">
        <Left run={run} spans={spans} />
      </Cell>
      <Cell column={COLUMNS.failures}>
        {run.failed_items > 0 ? (
          <Link to={`${pathOf(run.id)}?tab=failures`} className="text-bad hover:underline">
            {run.failed_items.toLocaleString('en')}
          </Link>
        ) : (
          <span className="text-soft">0</span>
        )}
      </Cell>
      <Cell column={COLUMNS.by} className="[overflow-wrap:anywhere]">
        <Link to={`/runs?by=${encodeURIComponent(run.created_by)}`} className="hover:underline">
          {run.created_by}
        </Link>
      </Cell>
      <Cell column={COLUMNS.duration} className="whitespace-nowrap">
        <Duration run={run} spans={spans} />
      </Cell>
      <Cell column={COLUMNS.age} className="text-soft">
        <Moment at={run.created_at} />
      </Cell>
      <Cell column={COLUMNS.id} className="font-mono text-xs/5 text-soft">
        {run.id}
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on ${run.name}`} items={menuOf(run, (act) => onOpen({ act, run }))} />
      </Cell>
    </tr>
  )
}

function Spending({ run }: { run: Run }) {
  return (
    <div className="flex w-36 max-w-full flex-col gap-1">
      <span className="text-xs/5">{spendingText(run)}</span>
      <SpendMeter run={run} />
    </div>
  )
}

/** Items a second while it was at work; null until that can be said. */
function useAverage(run: Run, spans: Span[] | undefined): number | null {
  const now = useLiveNow()
  const worked = spans ? workedMs(spans, now) : roughMs(run, now)
  return worked && worked > 1000 ? (doneItems(run) / worked) * 1000 : null
}

function Average({ run, spans }: { run: Run; spans: Span[] | undefined }) {
  return rate(useAverage(run, spans))
}

function Left({ run, spans }: { run: Run; spans: Span[] | undefined }) {
  const left = timeLeft(run, [useAverage(run, spans)])
  return left ? briefly(left[0] * 1000) : <span className="text-soft">–</span>
}

function Duration({ run, spans }: { run: Run; spans: Span[] | undefined }) {
  const now = useLiveNow()
  const worked = spans ? workedMs(spans, now) : roughMs(run, now)
  if (!run.started_at || worked === null) return <span className="text-soft">–</span>
  return <span title="Without the time it was paused or waited.">{briefly(worked)}</span>
}
