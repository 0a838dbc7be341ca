// A dense table; columns of lesser weight give way in narrow windows.
import { Check, Columns3 } from 'lucide-react'
import { createContext, type ReactNode, useContext } from 'react'
import type { List } from '@/api/lists'
import { Button } from './Button'
import type { Columns } from './columns'
import { Menu } from './Menu'

export type Column = {
  title: string
  isNumber?: boolean
  isHiddenTitle?: boolean
  from?: 'sm' | 'lg' | 'xl'
  /** Where columns can be chosen: the one a row is known by stays, and an extra is there when somebody wants it. */
  isFixed?: boolean
  isExtra?: boolean
}

/** Whether a column is shown, in the table around. */
const Shown = createContext<(column: Column) => boolean>(() => true)

const FROM = { sm: 'hidden sm:table-cell', lg: 'hidden lg:table-cell', xl: 'hidden xl:table-cell' }

function cellClass(column: Column): string {
  return `${column.from ? FROM[column.from] : ''} ${column.isNumber ? 'text-right' : 'text-left'}`
}

type TableProps = {
  label: string
  columns: Column[] | Columns
  isLoading?: boolean
  /** The rows come in groups, each with its own <tbody>. */
  isGrouped?: boolean
  children: ReactNode
}

export function Table({ label, columns: given, isLoading, isGrouped, children }: TableProps) {
  const chooser = Array.isArray(given) ? null : given
  const columns = Array.isArray(given) ? given : given.all.filter(given.isShown)
  return (
    <div className="relative overflow-x-auto">
      <table aria-label={label} aria-busy={isLoading || undefined} className="w-full border-collapse">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`px-4 py-2 text-xs font-medium whitespace-nowrap text-soft ${cellClass(column)}`}
              >
                <span className={column.isHiddenTitle ? 'sr-only' : ''}>{column.title}</span>
                {chooser && column === columns.at(-1) && <Chooser label={label} columns={chooser} />}
              </th>
            ))}
          </tr>
        </thead>
        <Shown value={chooser?.isShown ?? EVERY}>
          {isGrouped && !isLoading ? (
            children
          ) : (
            <tbody>{isLoading ? <SkeletonRows columns={columns} /> : children}</tbody>
          )}
        </Shown>
      </table>
    </div>
  )
}

const EVERY = () => true

/** At the end of the head, where nothing else stands. */
function Chooser({ label, columns }: { label: string; columns: Columns }) {
  return (
    <div className="-my-2 flex justify-end">
      <Menu
        label={`Columns of ${label}`}
        icon={Columns3}
        items={columns.free.map((column) => ({
          ...{ label: column.title, icon: Check, isOn: columns.isShown(column) },
          onSelect: () => columns.toggle(column),
        }))}
        note="A narrow window shows fewer. This browser remembers what you choose."
      />
    </div>
  )
}

const SKELETON_ROWS = ['w-3/5', 'w-4/5', 'w-2/5', 'w-1/2', 'w-3/4', 'w-1/3']

function SkeletonRows({ columns }: { columns: Column[] }) {
  return SKELETON_ROWS.map((width) => (
    <tr key={width} aria-hidden className="border-t border-line">
      {columns.map((column) => (
        <td key={column.title} className={`px-4 py-3.5 ${cellClass(column)}`}>
          <div className={`skeleton h-3.5 min-w-8 ${width} ${column.isNumber ? 'ml-auto' : ''}`} />
        </td>
      ))}
    </tr>
  ))
}

type CellProps = { column: Column; className?: string; children?: ReactNode }

export function Cell({ column, className = '', children }: CellProps) {
  if (!useContext(Shown)(column)) return null
  return <td className={`px-4 py-2.5 align-top ${cellClass(column)} ${className}`}>{children}</td>
}

/** Where the keyboard is, is seen from afar. */
export const ROW = 'border-t border-line hover:bg-hover has-[:focus-visible]:bg-hover'

export type Noun =
  | 'site'
  | 'account'
  | 'lease'
  | 'token'
  | 'event'
  | 'seed'
  | 'session'
  | 'version'
  | 'capture'
  | 'job'
  | 'platform'
  | 'document'
  | 'dead letter'
  | 'replay'
  | 'run'
  | 'item'
  | 'movement'
  | 'entity'

export function plural(noun: Noun): string {
  return noun === 'entity' ? 'entities' : `${noun}s`
}

type FooterProps<T> = { list: List<T>; shown: number; noun: Noun }

/** How much of the list is here, and the way to the rest. */
export function ListFooter<T>({ list, shown, noun }: FooterProps<T>) {
  const loaded = list.items?.length ?? 0
  const counted = shown === loaded ? `${loaded}` : `${shown} of ${loaded}`
  return (
    <div className="flex min-h-12 items-center justify-between gap-4 border-t border-line px-4 py-2 text-xs text-soft">
      <p aria-live="polite">
        {counted} {loaded === 1 ? noun : plural(noun)}
        {list.hasMore && ' loaded; there are more'}
      </p>
      {list.hasMore && (
        <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
          {list.isLoadingMore ? 'Loading…' : 'Load more'}
        </Button>
      )}
    </div>
  )
}
