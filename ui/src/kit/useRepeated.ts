// Asking again by itself: often while somebody looks, seldom while the tab is in the background.
import { useEffect, useRef } from 'react'
import type { List } from '@/api/lists'

const EVERY_MS = 5_000
const HIDDEN_MS = 60_000
const PAGE = 50

/** For a query. Whoever comes back to the tab sees it refreshed at once. */
export const LIVE = {
  refetchInterval: () => (document.hidden ? HIDDEN_MS : EVERY_MS),
  refetchIntervalInBackground: true,
}

/** For a list. The more of it is loaded, the dearer it is to ask for again, and the slower it goes. */
export function useRepeated<T>(list: List<T>) {
  const latest = useRef(list)
  latest.current = list
  const pages = Math.max(1, Math.ceil((list.items?.length ?? 0) / PAGE))
  useEffect(() => {
    let asked = Date.now()
    const timer = setInterval(() => {
      const { items, isRefreshing, retry } = latest.current
      const pause = document.hidden ? HIDDEN_MS : EVERY_MS * pages
      // What never loaded waits for its Retry; what is under way must not be cut off.
      if (!items || isRefreshing || Date.now() - asked < pause) return
      asked = Date.now()
      retry()
    }, EVERY_MS / 5)
    return () => clearInterval(timer)
  }, [pages])
}
