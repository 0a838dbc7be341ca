// The categories of a collector to choose from, with how many items are wanted of each and what one costs.
import { Button } from '@/kit/Button'
import { priced } from '@/kit/money'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Category } from './types'

const COLUMNS = {
  box: { title: 'Chosen', isHiddenTitle: true },
  category: { title: 'Category' },
  items: { title: 'Items', isNumber: true },
  price: { title: 'Unit price', isNumber: true },
} satisfies Record<string, Column>

type Props = { categories: Category[]; chosen: string[]; onChoose: (ids: string[]) => void }

export function CategoryTable({ categories, chosen, onChoose }: Props) {
  const isAll = chosen.length === categories.length
  const toggled = (id: string) =>
    categories.map((one) => one.id).filter((one) => (one === id) !== chosen.includes(one))
  return (
    <section aria-label="Categories">
      <div className="mb-1 flex items-center justify-between">
        <h3 className="text-xs font-medium">Categories</h3>
        <Button
          look="quiet"
          className="!h-6 !px-2 text-xs"
          onClick={() => onChoose(isAll ? [] : categories.map((one) => one.id))}
        >
          {isAll ? 'None of them' : 'All of them'}
        </Button>
      </div>
      <div className="rounded-md border border-line">
        <Table label="Categories" columns={Object.values(COLUMNS)}>
          {categories.map(({ id, name, items, unit_cost_micros }) => (
            <tr key={id} className={`${ROW} has-checked:bg-accent-wash`}>
              <Cell column={COLUMNS.box} className="w-8 !pr-0">
                <input
                  type="checkbox"
                  aria-label={name}
                  checked={chosen.includes(id)}
                  onChange={() => onChoose(toggled(id))}
                  className="mt-0.5 size-4 accent-accent"
                />
              </Cell>
              <Cell column={COLUMNS.category} className="[overflow-wrap:anywhere]">
                {name} {name !== id && <span className="font-mono text-xs text-soft">{id}</span>}
              </Cell>
              <Cell column={COLUMNS.items}>{items.toLocaleString('en')}</Cell>
              <Cell column={COLUMNS.price}>{unit_cost_micros === 0 ? 'free' : priced(unit_cost_micros)}</Cell>
            </tr>
          ))}
        </Table>
      </div>
    </section>
  )
}
