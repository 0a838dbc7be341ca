// What the chosen categories are likely to cost, line by line: by what earlier runs did, and at the most.
import { money, priced } from '@/kit/money'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Collector, Estimate } from './types'

const COLUMNS = {
  category: { title: 'Category' },
  items: { title: 'Items, each', isNumber: true, from: 'sm' },
  low: { title: 'Low', isNumber: true, from: 'sm' },
  expected: { title: 'Expected', isNumber: true },
  high: { title: 'High', isNumber: true, from: 'sm' },
  most: { title: 'At most', isNumber: true },
} satisfies Record<string, Column>

export function EstimateTable({ estimate, collector }: { estimate: Estimate; collector?: Collector }) {
  const named = (id: string) => collector?.categories.find((one) => one.id === id)?.name ?? id
  const items = estimate.items.reduce((sum, line) => sum + line.items, 0)
  return (
    <Table label="Estimate" columns={Object.values(COLUMNS)}>
      {estimate.items.map((line, index) => {
        const likely = estimate.forecast[index]
        return (
          <tr key={line.category} className={ROW}>
            <Cell column={COLUMNS.category} className="w-full [overflow-wrap:anywhere]">
              {named(line.category)}
              <span className="block text-xs/5 text-soft">{likely?.confidence}</span>
            </Cell>
            <Cell column={COLUMNS.items}>
              {line.items.toLocaleString('en')}
              <span className="block text-xs/5 text-soft">{priced(line.unit_cost_micros)}</span>
            </Cell>
            <Cell column={COLUMNS.low} className="text-soft">
              {priced(likely?.low_cost_micros)}
            </Cell>
            <Cell column={COLUMNS.expected} className="font-medium">
              {priced(likely?.expected_cost_micros)}
            </Cell>
            <Cell column={COLUMNS.high} className="text-soft">
              {priced(likely?.high_cost_micros)}
            </Cell>
            <Cell column={COLUMNS.most}>
              {priced(line.unit_cost_micros === null ? null : line.cost_micros)}
            </Cell>
          </tr>
        )
      })}
      <tr className="border-t-2 border-line font-semibold">
        <Cell column={COLUMNS.category}>Total</Cell>
        <Cell column={COLUMNS.items}>{items.toLocaleString('en')}</Cell>
        <Cell column={COLUMNS.low}>{money(estimate.low_cost_micros)}</Cell>
        <Cell column={COLUMNS.expected}>{money(estimate.expected_cost_micros)}</Cell>
        <Cell column={COLUMNS.high}>{money(estimate.high_cost_micros)}</Cell>
        <Cell column={COLUMNS.most}>{money(estimate.total_cost_micros)}</Cell>
      </tr>
    </Table>
  )
}
