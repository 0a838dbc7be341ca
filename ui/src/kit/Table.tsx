// A dense table; columns of lesser weight give way in narrow windows.
import type { ReactNode } from 'react'
import type { List } from '@/api/lists'
import { Button } from './Button'

export type Column = { title: string; isNumber?: boolean; isHiddenTitle?: boolean; from?: 'sm' | 'lg' | 'xl' }

const FROM = { sm: 'hidden sm:table-cell', lg: 'hidden lg:table-cell', xl: 'hidden xl:table-cell' }

function cellClass(column: Column): string {
  return `${column.from ? FROM[column.from] : ''} ${column.isNumber ? 'text-right' : 'text-left'}`
}

type TableProps = {
  label: string
  columns: Column[]
  isLoading?: boolean
  /** The rows come in groups, each with its own <tbody>. */
  isGrouped?: boolean
  children: ReactNode
}

export function Table({ label, columns, isLoading, isGrouped, children }: TableProps) {
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
              </th>
            ))}
          </tr>
        </thead>
        {isGrouped && !isLoading ? (
          children
        ) : (
          <tbody>{isLoading ? <SkeletonRows columns={columns} /> : children}</tbody>
        )}
      </table>
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
  return <td className={`px-4 py-2.5 align-top ${cellClass(column)} ${className}`}>{children}</td>
}

export const ROW = 'border-t border-line hover:bg-hover'

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

type FooterProps<T> = { list: List<T>; shown: number; noun: Noun }

/** How much of the list is here, and the way to the rest. */
export function ListFooter<T>({ list, shown, noun }: FooterProps<T>) {
  const loaded = list.items?.length ?? 0
  const counted = shown === loaded ? `${loaded}` : `${shown} of ${loaded}`
  return (
    <div className="flex min-h-12 items-center justify-between gap-4 border-t border-line px-4 py-2 text-xs text-soft">
      <p aria-live="polite">
        {counted} {loaded === 1 ? noun : `${noun}s`}
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
