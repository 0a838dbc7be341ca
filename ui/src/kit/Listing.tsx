// The body of a page that is a list: why it is not shown, or the list under its filters.
import type { ReactNode } from 'react'
import type { List } from '@/api/lists'
import { Button } from './Button'
import { Panel } from './Panel'
import { Empty, Failure } from './states'
import { ListFooter, type Noun } from './Table'

type Props<T> = {
  list: List<T>
  noun: Noun
  /** Why this token may not see it. */
  objection: string | null
  isFiltered: boolean
  onClear: () => void
  filters: ReactNode
  /** What to know about the filters when nothing fits them. */
  hint?: string
  /** What stands there when there is nothing at all yet. */
  firstUse: ReactNode
  children: ReactNode
}

export function Listing<T>(props: Props<T>) {
  const { list, noun, objection, isFiltered, onClear, filters, hint, firstUse, children } = props
  if (objection) {
    return (
      <Panel>
        <Empty title="Not for this token">{objection}</Empty>
      </Panel>
    )
  }
  const isEmpty = list.items?.length === 0
  return (
    <>
      {list.error !== null && (
        <Failure
          what={`The ${noun}s could not be ${list.items ? 'refreshed' : 'loaded'}.`}
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
          isOld={list.items !== undefined}
        />
      )}
      {(list.error === null || list.items) && (
        <Panel label="List">
          {isEmpty && !isFiltered ? (
            firstUse
          ) : (
            <>
              {filters}
              {isEmpty ? (
                <Empty
                  title={`No ${noun} matches`}
                  action={<Button onClick={onClear}>Clear the filters</Button>}
                >
                  None fits all the filters. {hint}
                </Empty>
              ) : (
                children
              )}
              {list.items && !isEmpty && <ListFooter list={list} shown={list.items.length} noun={noun} />}
            </>
          )}
        </Panel>
      )}
    </>
  )
}

type BarProps = { isFiltered: boolean; onClear: () => void; children: ReactNode }

export function FilterBar({ isFiltered, onClear, children }: BarProps) {
  return (
    <search
      aria-label="Filters"
      className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5"
    >
      {children}
      {isFiltered && (
        <Button look="quiet" onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  )
}
