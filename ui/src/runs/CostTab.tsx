// What a run has cost: over time against its cap, category by category against the estimate, and every movement.
import { Download } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Button } from '@/kit/Button'
import { exactly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Failure, Refused } from '@/kit/states'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { useLedger } from './api'
import { useLedgerFile } from './ledger'
import type { CategoryProgress, Run, Summary } from './types'

// Who looks at no chart does not load what draws it.
const SpendingChart = lazy(() => import('./SpendingChart'))

export function CostTab({ run, summary }: { run: Run; summary: Summary | undefined }) {
  const isDrawn = summary && summary.spending.length > 0
  return (
    <div className="divide-y divide-line">
      <div className="p-4">
        <h3 className="mb-2 font-semibold">Spending against the cap</h3>
        {isDrawn ? (
          <Suspense fallback={<div role="status" aria-label="Drawing" className="skeleton h-56" />}>
            <SpendingChart run={run} spending={summary.spending} />
          </Suspense>
        ) : (
          <p className="py-8 text-center text-soft">Nothing has been spent yet.</p>
        )}
      </div>
      {summary && <Categories categories={summary.categories} />}
      <Ledger run={run} />
    </div>
  )
}

const BY_CATEGORY = {
  category: { title: 'Category' },
  estimated: { title: 'Estimated', isNumber: true },
  actual: { title: 'Actual', isNumber: true },
  share: { title: 'Of the estimate', isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

function Categories({ categories }: { categories: CategoryProgress[] }) {
  return (
    <div>
      <h3 className="px-4 pt-4 font-semibold">Estimate and actual</h3>
      <Table label="Estimate and actual" columns={Object.values(BY_CATEGORY)}>
        {categories.map((one) => (
          <tr key={one.category} className={ROW}>
            <Cell column={BY_CATEGORY.category}>{one.category}</Cell>
            <Cell column={BY_CATEGORY.estimated}>{money(one.estimated_cost_micros)}</Cell>
            <Cell column={BY_CATEGORY.actual}>{money(one.cost_micros)}</Cell>
            <Cell column={BY_CATEGORY.share} className="text-soft">
              {one.estimated_cost_micros > 0
                ? `${Math.round((100 * one.cost_micros) / one.estimated_cost_micros)} %`
                : '–'}
            </Cell>
          </tr>
        ))}
      </Table>
    </div>
  )
}

const COLUMNS = {
  at: { title: 'Time' },
  kind: { title: 'Movement' },
  item: { title: 'Item', from: 'lg' },
  reserved: { title: 'Reserved', isNumber: true },
  spent: { title: 'Spent', isNumber: true },
} satisfies Record<string, Column>

function Ledger({ run }: { run: Run }) {
  const list = useLedger(run.id)
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-2 px-4 pt-3">
        <h3 className="font-semibold">Ledger</h3>
        <ExportButton run={run} />
      </div>
      {list.error !== null && (
        <div className="p-4">
          <Failure what="The ledger could not be loaded." error={list.error} onRetry={list.retry} />
        </div>
      )}
      <Table label="Ledger" columns={Object.values(COLUMNS)} isLoading={!list.items && !list.error}>
        {list.items?.map((entry) => (
          <tr key={entry.number} className={ROW}>
            <Cell column={COLUMNS.at} className="font-mono text-xs/5 whitespace-nowrap text-soft">
              {exactly(entry.at).slice(11, 19)}
            </Cell>
            <Cell column={COLUMNS.kind}>
              {entry.kind} <span className="text-soft">{entry.purpose}</span>
            </Cell>
            <Cell column={COLUMNS.item} className="font-mono text-xs/5 text-soft">
              {entry.item_id ?? '–'}
            </Cell>
            <Cell column={COLUMNS.reserved} className={entry.reserved_micros < 0 ? 'text-soft' : ''}>
              {money(entry.reserved_micros)}
            </Cell>
            <Cell column={COLUMNS.spent}>{money(entry.spent_micros)}</Cell>
          </tr>
        ))}
      </Table>
      {list.items && <ListFooter list={list} shown={list.items.length} noun="movement" />}
    </div>
  )
}

function ExportButton({ run }: { run: Run }) {
  const { save, fault, isBusy } = useLedgerFile(run.id)
  return (
    <>
      <Refused>{fault}</Refused>
      <Button icon={Download} isBusy={isBusy} onClick={save}>
        Export as CSV
      </Button>
    </>
  )
}
