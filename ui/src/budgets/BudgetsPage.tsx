// Where the money goes: today as a whole, run by run against its cap, and what an item costs.
import { Download } from 'lucide-react'
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { asked } from '@/kit/copying'
import { Listing } from '@/kit/Listing'
import { Moment } from '@/kit/Moment'
import { money, priced } from '@/kit/money'
import { Page, Panel } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useUrlText } from '@/kit/useUrlText'
import { useFreshness } from '@/live/store'
import { useOverview } from '@/overview/api'
import { Tile } from '@/overview/Tile'
import { useCollectors, useRuns } from '@/runs/api'
import { useLedgerFile } from '@/runs/ledger'
import { projectedCost } from '@/runs/projection'
import { pathOf, SpendMeter, StatusBadge, spendingText } from '@/runs/signs'
import { isOver } from '@/runs/states'
import type { Run } from '@/runs/types'
import { useRefreshed } from '@/runs/useRefreshed'
import { useAllowance } from '@/settings/api'
import { DaysPanel } from './DaysPanel'

const SHOWN: Record<string, { label: string; status?: string; used_percent?: number }> = {
  '': { label: 'All runs' },
  live: { label: 'Not over', status: 'pending,running,paused' },
  near: { label: 'Over 80 %', status: 'running,paused', used_percent: 80 },
}

export function BudgetsPage() {
  const objection = useObjection('runs.view')
  const [text, setText] = useUrlText('show')
  const chosen = text in SHOWN ? text : ''
  const { label: _label, ...wanted } = SHOWN[chosen] ?? {}
  const list = useRuns(wanted, objection === null)
  const { mode } = useFreshness()
  useRefreshed(list, mode)
  const isFirstUse = list.items?.length === 0 && chosen === ''
  return (
    <Page
      title="Budgets"
      lead="What runs have spent, what they have set aside, and what they may."
      asks={asked('/v2/runs', wanted)}
    >
      {objection === null && <Sums />}
      {objection === null && !isFirstUse && <DaysPanel />}
      <Listing
        list={list}
        noun="run"
        objection={objection}
        isFiltered={chosen !== ''}
        onClear={() => setText('')}
        filters={
          <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
            <h2 className="font-semibold">Run by run</h2>
            <Segments
              label="Which runs"
              value={chosen}
              options={Object.fromEntries(Object.entries(SHOWN).map(([key, one]) => [key, one.label]))}
              onChange={setText}
            />
          </div>
        }
        firstUse={
          <Empty
            title="Nothing has been spent"
            action={
              <Link to="/runs/new" className="text-accent underline">
                Plan a run
              </Link>
            }
          >
            Every run has a budget of its own. Once one is planned, what it spends and reserves of it stands
            here, with its ledger.
          </Empty>
        }
      >
        <BudgetsTable runs={list.items} />
      </Listing>
      {objection === null && <PricesPanel />}
    </Page>
  )
}

function Sums() {
  const { data: seen } = useOverview(1)
  const { data: allowance } = useAllowance(true)
  const spend = seen?.spend
  const left = spend ? Math.max(0, spend.cap_micros - spend.spent_micros - spend.reserved_micros) : 0
  const slots = spend ? spend.running : 0
  return (
    <section aria-label="In numbers" className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4">
      <Tile label="Spent today" to="/runs" value={spend ? money(spend.spent_micros) : '–'}>
        since midnight UTC
      </Tile>
      <Tile
        label="Reserved"
        to="/runs?status=running,paused"
        value={spend ? money(spend.reserved_micros) : '–'}
      >
        for what is in hand
      </Tile>
      <Tile label="May still be spent" to="/runs?status=running,paused" value={spend ? money(left) : '–'}>
        {spend && `of ${money(spend.cap_micros)}, by the runs of today`}
      </Tile>
      <Tile
        label="Cap of one run"
        to="/settings"
        value={allowance ? money(allowance.budget_cap_micros) : '–'}
      >
        {allowance && `${slots} of ${allowance.max_concurrent_runs} slots taken`}
        {spend && spend.waiting > 0 && `, ${spend.waiting} in line`}
      </Tile>
    </section>
  )
}

const COLUMNS = {
  run: { title: 'Run' },
  state: { title: 'State', from: 'sm' },
  spending: { title: 'Spending' },
  estimate: { title: 'Estimate', isNumber: true, from: 'lg' },
  projected: { title: 'At its end', isNumber: true, from: 'lg' },
  begun: { title: 'Began', isNumber: true, from: 'xl' },
  ledger: { title: 'Ledger', isHiddenTitle: true, isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

function BudgetsTable({ runs }: { runs: Run[] | undefined }) {
  return (
    <Table label="Budgets" columns={Object.values(COLUMNS)} isLoading={!runs}>
      {runs?.map((run) => (
        <Row key={run.id} run={run} />
      ))}
    </Table>
  )
}

function Row({ run }: { run: Run }) {
  const { save, fault, isBusy } = useLedgerFile(run.id)
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.run} className="[overflow-wrap:anywhere]">
        <Link to={`${pathOf(run.id)}?tab=cost`} className="font-medium text-accent-strong hover:underline">
          {run.name}
        </Link>
        <div className="text-xs/5 text-soft">
          {run.collector}: {run.categories.join(', ')}
        </div>
      </Cell>
      <Cell column={COLUMNS.state}>
        <StatusBadge run={run} />
      </Cell>
      <Cell column={COLUMNS.spending} className="w-[34%]">
        <div className="flex flex-col gap-1.5 py-0.5">
          <span className="text-xs/5">{spendingText(run)}</span>
          <SpendMeter run={run} hasTick />
        </div>
      </Cell>
      <Cell column={COLUMNS.estimate}>{money(run.estimated_cost_micros)}</Cell>
      <Cell column={COLUMNS.projected}>
        <Projected run={run} />
      </Cell>
      <Cell column={COLUMNS.begun} className="text-soft">
        <Moment at={run.started_at} otherwise="not yet" />
      </Cell>
      <Cell column={COLUMNS.ledger} className="!py-1.5">
        <Button
          look="quiet"
          icon={Download}
          isBusy={isBusy}
          onClick={save}
          aria-label={`CSV of the ledger of ${run.name}`}
        >
          CSV
        </Button>
        {fault && (
          <p role="alert" className="text-xs text-bad">
            {fault}
          </p>
        )}
      </Cell>
    </tr>
  )
}

/** What it will have cost if it goes on like this. */
function Projected({ run }: { run: Run }) {
  if (isOver(run)) return money(run.actual_cost_micros)
  const micros = projectedCost(run)
  const isAbove = micros > run.budget_cap_micros
  return (
    <span
      className={isAbove ? 'text-warn' : ''}
      title={isAbove ? 'More than its cap: it will pause.' : undefined}
    >
      {money(micros)}
    </span>
  )
}

const PRICES = {
  category: { title: 'Category' },
  collector: { title: 'Collector' },
  items: { title: 'Items at the most', isNumber: true, from: 'sm' },
  price: { title: 'One item', isNumber: true },
  whole: { title: 'All of them', isNumber: true },
} satisfies Record<string, Column>

function PricesPanel() {
  const { data, error, refetch, isFetching } = useCollectors()
  const lines = data?.flatMap(({ slug, categories }) =>
    categories.map((one) => ({ collector: slug, ...one })),
  )
  return (
    <Panel title="Prices" lead="What one item costs today, and what a whole category may.">
      {error && (
        <div className="p-4">
          <Failure
            what="The prices could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        </div>
      )}
      {lines?.length === 0 ? (
        <p className="px-4 py-6 text-soft">There is no collector.</p>
      ) : (
        !error && (
          <Table label="Prices" columns={Object.values(PRICES)} isLoading={!lines}>
            {lines?.map((line) => (
              <tr key={`${line.collector} ${line.id}`} className={ROW}>
                <Cell column={PRICES.category}>
                  <Link
                    to={`/runs/new?collector=${line.collector}&categories=${line.id}`}
                    className="font-medium text-accent-strong hover:underline"
                  >
                    {line.name}
                  </Link>
                </Cell>
                <Cell column={PRICES.collector} className="text-soft">
                  {line.collector}
                </Cell>
                <Cell column={PRICES.items}>{line.items.toLocaleString('en')}</Cell>
                <Cell column={PRICES.price}>{priced(line.unit_cost_micros)}</Cell>
                <Cell column={PRICES.whole}>
                  {priced(line.unit_cost_micros && line.items * line.unit_cost_micros)}
                </Cell>
              </tr>
            ))}
          </Table>
        )
      )}
    </Panel>
  )
}
