// What comes in, as it comes: the latest line, and opened the last hundred with the way to all before them.
import { ChevronRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '@/kit/Button'
import { Select } from '@/kit/Field'
import { exactly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { useUrlText } from '@/kit/useUrlText'
import { useFeed } from '@/live/feed'
import { useOlder } from './api'
import { type FeedRow, grouped, joined } from './feedRows'
import { ItemBadge, ItemName } from './signs'
import { doneItems, ITEM_STATUSES, isItemStatus } from './states'
import type { Run, Told } from './types'

const SAY_EVERY_MS = 5_000
const OUTCOMES = {
  '': 'Every outcome',
  completed: ITEM_STATUSES.completed.label,
  failed: ITEM_STATUSES.failed.label,
  skipped: ITEM_STATUSES.skipped.label,
}

export function FeedPanel({ run }: { run: Run }) {
  const live = useFeed()
  const older = useOlder(run.id)
  useCaughtUp(run, older.retry)
  const [isOpen, setIsOpen] = useUrlText('feed')
  const all = joined(live, older.items ?? [])
  return (
    <section aria-label="Feed" className="min-w-0 rounded-lg border border-line bg-panel shadow-raised">
      <button
        type="button"
        aria-expanded={isOpen !== ''}
        onClick={() => setIsOpen(isOpen ? '' : '1')}
        className="flex w-full items-center gap-2 rounded-lg px-4 py-2.5 text-left hover:bg-hover"
      >
        <ChevronRight aria-hidden size={14} className={`shrink-0 ${isOpen ? 'rotate-90' : ''}`} />
        <span className="font-semibold">Feed</span>
        {!isOpen && <LastLine item={all[0]} />}
      </button>
      <Spoken run={run} />
      {isOpen && <Rows run={run} all={all} older={older} />}
    </section>
  )
}

/** What is told live has room for the last hundred: what falls out of it must have been loaded by then. */
function useCaughtUp(run: Run, reload: () => void) {
  const latest = useRef(reload)
  latest.current = reload
  const mark = `${Math.floor(doneItems(run) / 50)} ${run.status}`
  const before = useRef(mark)
  useEffect(() => {
    if (before.current !== mark) latest.current()
    before.current = mark
  }, [mark])
}

function LastLine({ item }: { item: Told | undefined }) {
  if (!item) return <span className="text-soft">Nothing has come yet.</span>
  return (
    <span className="flex min-w-0 items-center gap-2 text-xs">
      <ItemBadge status={item.status} />
      <span className="truncate">
        <span className="text-soft">{item.category}</span>{' '}
        <span className="font-mono">{item.external_id}</span>{' '}
        <span className="text-soft">{item.error_message ?? item.error_code}</span>
      </span>
    </span>
  )
}

/** For those who are read to: how it goes, and not each item. */
function Spoken({ run }: { run: Run }) {
  const [words, setWords] = useState('')
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const timer = setInterval(() => {
      const { processed_items, failed_items, total_items, status } = latest.current
      setWords(`${status}: ${processed_items} of ${total_items} collected, ${failed_items} failed`)
    }, SAY_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p aria-live="polite" className="sr-only">
      {words}
    </p>
  )
}

type RowsProps = { run: Run; all: Told[]; older: ReturnType<typeof useOlder> }

function Rows({ run, all, older }: RowsProps) {
  const [outcome, setOutcome] = useUrlText('outcome')
  const [category, setCategory] = useUrlText('of')
  const fits = ({ status, category: mine }: Told) =>
    (!isItemStatus(outcome) || status === outcome) &&
    (!run.categories.includes(category) || mine === category)
  const { shown, held, hold } = useHeld(all.filter(fits))
  const rows = grouped(shown)
  return (
    <div className="border-t border-line">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <Select
          label="Outcome"
          isLabelHidden
          className="w-40"
          value={outcome in OUTCOMES ? outcome : ''}
          onChange={setOutcome}
          options={OUTCOMES as Record<string, string>}
        />
        {run.categories.length > 1 && (
          <Select
            label="Category"
            isLabelHidden
            className="w-44"
            value={run.categories.includes(category) ? category : ''}
            onChange={setCategory}
            options={{ '': 'Every category', ...Object.fromEntries(run.categories.map((one) => [one, one])) }}
          />
        )}
        {held > 0 && (
          <span className="rounded-full bg-accent-wash px-2 py-0.5 text-xs font-medium text-accent-strong">
            {held} new
          </span>
        )}
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: rows stand still under the pointer, nothing more */}
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
        tabIndex={0}
        onMouseEnter={() => hold(true)}
        onMouseLeave={() => hold(false)}
        className="max-h-96 overflow-y-auto focus-visible:-outline-offset-2"
      >
        {rows.length === 0 && <p className="px-4 py-8 text-center text-soft">Nothing has come yet.</p>}
        <ol aria-label="Latest items">
          {rows.map((row) => (
            <Line key={row.item.id} row={row} />
          ))}
        </ol>
        <div className="flex items-center justify-between gap-4 px-4 py-2 text-xs text-soft">
          <span>{shown.length.toLocaleString('en')} shown, newest first</span>
          {older.hasMore && (
            <Button onClick={older.loadMore} isBusy={older.isLoadingMore}>
              Load older
            </Button>
          )}
        </div>
      </div>
    </div>
  )
}

/** What was there when the pointer came, until it goes; and how many came meanwhile. */
function useHeld(items: Told[]) {
  const [first, setFirst] = useState<string | null>(null)
  const at =
    first === null
      ? 0
      : Math.max(
          0,
          items.findIndex(({ id }) => id === first),
        )
  return {
    shown: items.slice(at),
    held: at,
    hold: (isHeld: boolean) => setFirst(isHeld ? (items[0]?.id ?? null) : null),
  }
}

function Line({ row: { item, repeats } }: { row: FeedRow }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-0.5 border-b border-line px-4 py-1.5 text-xs/5">
      <time dateTime={item.at} className="font-mono text-soft">
        {exactly(item.at).slice(11, 19)}
      </time>
      <ItemBadge status={item.status} />
      <span className="text-soft">{item.category}</span>
      <ItemName item={item} />
      {repeats > 1 && <span className="font-semibold">×{repeats}</span>}
      <span className="min-w-0 flex-1 truncate text-soft" title={item.error_message ?? undefined}>
        {[item.error_code, item.error_message].filter(Boolean).join(': ')}
      </span>
      <span>{money(item.cost_micros)}</span>
    </li>
  )
}
