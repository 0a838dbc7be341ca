// What the chosen categories may cost, line by line, against the cap; and what to do when that is too much.
import { CircleCheck, type LucideIcon, OctagonX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { useEstimate } from './api'
import type { Collector, Estimate } from './types'

const COLUMNS = {
  category: { title: 'Category' },
  items: { title: 'Items', isNumber: true },
  price: { title: 'Unit price', isNumber: true },
  cost: { title: 'Cost', isNumber: true },
} satisfies Record<string, Column>

type Props = {
  collector: Collector
  chosen: string[]
  query: ReturnType<typeof useEstimate>
  /** The way on, given why it is barred. */
  children: (objection: string | null) => ReactNode
}

export function ReviewPanel({ collector, chosen, query, children }: Props) {
  const { data, error, refetch, isFetching, isPlaceholderData } = query
  const isChosen = chosen.length > 0
  const known = isChosen ? data : undefined
  return (
    <Panel title="2. Review" lead="At the prices of today; asking costs nothing.">
      {error ? (
        <div className="p-4">
          <Failure
            what="It could not be estimated."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        </div>
      ) : !isChosen ? (
        <p className="px-4 py-10 text-center text-soft">Choose a category to see what it may cost.</p>
      ) : known ? (
        <div aria-busy={isPlaceholderData || undefined}>
          <EstimateTable estimate={known} collector={collector} />
          <Verdict estimate={known} />
        </div>
      ) : (
        <div role="status" aria-busy="true" aria-label="Estimating" className="skeleton m-4 h-32" />
      )}
      <div className="flex justify-end border-t border-line px-4 py-3">
        {children(barred(isChosen, known))}
      </div>
    </Panel>
  )
}

function barred(isChosen: boolean, estimate: Estimate | undefined): string | null {
  if (!isChosen) return 'Choose a category first.'
  if (!estimate) return 'It is being estimated.'
  return estimate.verdict === 'blocked' ? 'It may cost more than the cap.' : null
}

export function EstimateTable({ estimate, collector }: { estimate: Estimate; collector?: Collector }) {
  const named = (id: string) => collector?.categories.find((one) => one.id === id)?.name ?? id
  const items = estimate.items.reduce((sum, line) => sum + line.items, 0)
  return (
    <Table label="Estimate" columns={Object.values(COLUMNS)}>
      {estimate.items.map((line) => (
        <tr key={line.category} className={ROW}>
          <Cell column={COLUMNS.category} className="[overflow-wrap:anywhere]">
            {named(line.category)}
          </Cell>
          <Cell column={COLUMNS.items}>{line.items.toLocaleString('en')}</Cell>
          <Cell column={COLUMNS.price}>{money(line.unit_cost_micros)}</Cell>
          <Cell column={COLUMNS.cost}>{money(line.cost_micros)}</Cell>
        </tr>
      ))}
      <tr className="border-t-2 border-line font-semibold">
        <Cell column={COLUMNS.category}>Total</Cell>
        <Cell column={COLUMNS.items}>{items.toLocaleString('en')}</Cell>
        <Cell column={COLUMNS.price} />
        <Cell column={COLUMNS.cost}>{money(estimate.total_cost_micros)}</Cell>
      </tr>
    </Table>
  )
}

const LOOKS: Record<Estimate['verdict'], { icon: LucideIcon; look: string }> = {
  ok: { icon: CircleCheck, look: 'bg-good-wash text-good' },
  warn: { icon: TriangleAlert, look: 'bg-warn-wash text-warn' },
  blocked: { icon: OctagonX, look: 'bg-bad-wash text-bad' },
}

export function Verdict({ estimate }: { estimate: Estimate }) {
  const { icon: Icon, look } = LOOKS[estimate.verdict]
  return (
    <div role="status" aria-label="Verdict" className={`flex gap-2 border-t border-line px-4 py-3 ${look}`}>
      <Icon aria-hidden size={16} className="mt-0.5 shrink-0" />
      <p>{worded(estimate)}</p>
    </div>
  )
}

function worded({ verdict, total_cost_micros: total, budget_cap_micros: most }: Estimate): ReactNode {
  const share = most > 0 ? Math.round((100 * total) / most) : 100
  if (verdict === 'ok') return `Within the cap of ${money(most)}: ${share} % of it.`
  if (verdict === 'warn')
    return `Within the cap of ${money(most)}, but ${share} % of it: it may warn on its way.`
  return (
    <>
      Blocked: {money(total - most)} more than the cap of {money(most)}. Choose fewer categories, or have the
      cap raised in the{' '}
      <Link to="/settings" className="underline">
        settings
      </Link>
      .
    </>
  )
}
