// The body of a page that is a list: why it is not shown, or the list under its filters.
import { ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'
import type { List } from '@/api/lists'
import { Button } from './Button'
import { Panel } from './Panel'
import { Empty, Failure } from './states'
import { ListFooter, type Noun, plural } from './Table'

type Props<T> = {
  list: List<T>
  noun: Noun
  /** Why this token may not see it. */
  objection: string | null
  isFiltered?: boolean
  onClear?: () => void
  filters?: ReactNode
  /** Something else the page needs that failed, and the way to have it, too. */
  also?: { error: unknown; retry: () => void }
  /** What to know about the filters when nothing fits them. */
  hint?: string
  /** What stands there when there is nothing at all yet. */
  firstUse: ReactNode
  children: ReactNode
}

export function Listing<T>(props: Props<T>) {
  const { list, noun, objection, isFiltered, onClear, filters, also, hint, firstUse, children } = props
  const error = list.error ?? also?.error ?? null
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
      {error !== null && (
        <Failure
          what={`The ${plural(noun)} could not be ${list.items ? 'refreshed' : 'loaded'}.`}
          error={error}
          onRetry={() => {
            list.retry()
            also?.retry()
          }}
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
                <div className="relative">
                  <News list={list} noun={noun} />
                  {children}
                </div>
              )}
              {list.items && !isEmpty && <ListFooter list={list} shown={list.items.length} noun={noun} />}
            </>
          )}
        </Panel>
      )}
    </>
  )
}

/** It hangs over the list, so that nothing moves when it comes. */
function News<T>({ list, noun }: { list: List<T>; noun: Noun }) {
  const { news = 0, show } = list.held ?? {}
  return (
    <div role="status" className="absolute inset-x-0 top-0 z-10 flex h-0 justify-center">
      {news > 0 && (
        <button
          type="button"
          onClick={show}
          title={`Show ${news} new ${news === 1 ? noun : plural(noun)}. Rows keep their places while you have some in hand.`}
          className="mt-1 inline-flex h-6.5 items-center gap-1 rounded-full bg-accent px-3 text-xs font-medium text-on-accent shadow-float hover:bg-accent-strong"
        >
          <ArrowUp aria-hidden size={12} />
          {news} new
        </button>
      )}
    </div>
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
