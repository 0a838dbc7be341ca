// The items of a run, newest first, with what each of them brought.
import { ChevronRight } from 'lucide-react'
import { Fragment, useState } from 'react'
import { IconButton } from '@/kit/Button'
import { Select } from '@/kit/Field'
import { Json } from '@/kit/Json'
import { FilterBar } from '@/kit/Listing'
import { Moment } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { useUrlText } from '@/kit/useUrlText'
import { useFreshness } from '@/live/store'
import { useItems } from './api'
import { ItemBadge, ItemName } from './signs'
import { ITEM_STATUS_NAMES, ITEM_STATUSES, isItemStatus, isOver } from './states'
import type { Item, Run } from './types'
import { useRefreshed } from './useRefreshed'

const COLUMNS = {
  more: { title: 'More', isHiddenTitle: true },
  item: { title: 'Item' },
  category: { title: 'Category', from: 'sm' },
  status: { title: 'Status' },
  cost: { title: 'Cost', isNumber: true, from: 'sm' },
  changed: { title: 'Changed', isNumber: true, from: 'lg' },
} satisfies Record<string, Column>

const ANY = {
  '': 'Every status',
  ...Object.fromEntries(ITEM_STATUS_NAMES.map((name) => [name, ITEM_STATUSES[name].label])),
}

export function ItemsTab({ run }: { run: Run }) {
  const [status, setStatus] = useUrlText('item')
  const [category, setCategory] = useUrlText('category')
  const filter = {
    status: isItemStatus(status) ? status : undefined,
    category: run.categories.includes(category) ? category : undefined,
  }
  const list = useItems(run.id, filter)
  const { mode } = useFreshness()
  useRefreshed(list, isOver(run) ? 'paused' : mode === 'live' ? 'polling' : mode)
  const [shown, setShown] = useState<string | null>(null)
  const isFiltered = filter.status !== undefined || filter.category !== undefined
  const clear = () => {
    setStatus('')
    setCategory('')
  }
  if (list.error && !list.items) {
    return (
      <div className="p-4">
        <Failure what="The items could not be loaded." error={list.error} onRetry={list.retry} />
      </div>
    )
  }
  return (
    <>
      <FilterBar isFiltered={isFiltered} onClear={clear}>
        <Select
          label="Status of items"
          isLabelHidden
          className="w-40"
          value={filter.status ?? ''}
          onChange={setStatus}
          options={ANY as Record<string, string>}
        />
        {run.categories.length > 1 && (
          <Select
            label="Category of items"
            isLabelHidden
            className="w-44"
            value={filter.category ?? ''}
            onChange={setCategory}
            options={{ '': 'Every category', ...Object.fromEntries(run.categories.map((one) => [one, one])) }}
          />
        )}
      </FilterBar>
      {list.items?.length === 0 ? (
        <Empty title={isFiltered ? 'No item matches' : 'No items yet'}>
          {isFiltered ? 'None fits the filters.' : 'They are found page by page once the run goes.'}
        </Empty>
      ) : (
        <Table label="Items" columns={Object.values(COLUMNS)} isLoading={!list.items}>
          {list.items?.map((item) => (
            <Row
              key={item.id}
              item={item}
              isOpen={shown === item.id}
              onToggle={() => setShown(shown === item.id ? null : item.id)}
            />
          ))}
        </Table>
      )}
      {list.items && list.items.length > 0 && (
        <ListFooter list={list} shown={list.items.length} noun="item" />
      )}
    </>
  )
}

type RowProps = { item: Item; isOpen: boolean; onToggle: () => void }

function Row({ item, isOpen, onToggle }: RowProps) {
  const title = typeof item.data.title === 'string' ? item.data.title : null
  return (
    <Fragment>
      <tr className={ROW}>
        <Cell column={COLUMNS.more} className="w-8 !py-1 !pr-0">
          <IconButton
            icon={ChevronRight}
            label={`${isOpen ? 'Hide' : 'Show'} what ${item.external_id} brought`}
            aria-expanded={isOpen}
            onClick={onToggle}
            className={isOpen ? 'rotate-90' : ''}
          />
        </Cell>
        <Cell column={COLUMNS.item} className="[overflow-wrap:anywhere] max-sm:w-full">
          <ItemName item={item} />
          <div className="text-xs/5 text-soft">{title ?? item.item_type}</div>
        </Cell>
        <Cell column={COLUMNS.category}>{item.category}</Cell>
        <Cell column={COLUMNS.status}>
          <ItemBadge status={item.status} />
          {item.error_code && (
            <div
              className="line-clamp-2 max-w-72 text-xs/5 max-sm:max-w-28 text-soft"
              title={item.error_message ?? undefined}
            >
              {[item.error_code, item.error_message].filter(Boolean).join(': ')}
            </div>
          )}
        </Cell>
        <Cell column={COLUMNS.cost}>{money(item.cost_micros)}</Cell>
        <Cell column={COLUMNS.changed} className="text-soft">
          <Moment at={item.updated_at} />
        </Cell>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={Object.keys(COLUMNS).length} className="px-4 pb-3">
            <Json value={item.data} label={`What ${item.external_id} brought`} className="max-h-64" />
          </td>
        </tr>
      )}
    </Fragment>
  )
}
