// The rows of the feed: what was told live, what was there before, and repeats of the same failure in one row.
import type { Item, Told } from './types'

export type FeedRow = { item: Told; repeats: number }

export function told(item: Item): Told {
  return { ...item, at: item.updated_at }
}

/** Newest first, each once. Those that are not over yet have no outcome to tell. */
export function joined(live: Told[], older: Item[]): Told[] {
  const known = new Set(live.map(({ id }) => id))
  const before = older.filter(
    ({ id, status }) => !known.has(id) && status !== 'processing' && status !== 'pending',
  )
  return [...live, ...before.map(told)]
}

/** Neighbours that failed alike are one row: `timeout ×37`. */
export function grouped(items: Told[]): FeedRow[] {
  const rows: FeedRow[] = []
  for (const item of items) {
    const last = rows.at(-1)
    const isSame =
      last &&
      item.error_code &&
      last.item.error_code === item.error_code &&
      last.item.category === item.category
    if (isSame) last.repeats += 1
    else rows.push({ item, repeats: 1 })
  }
  return rows
}
