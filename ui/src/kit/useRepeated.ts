// Asking again by itself, as often as somebody chose; seldom while the tab is in the background.
import { useEffect, useRef } from 'react'
import type { List } from '@/api/lists'
import { isCovered, isInHand, pauseMs } from '@/live/rhythm'

const LOOK_MS = 1_000
const PAGE = 50

/** For a query. Whoever comes back to the tab sees it refreshed at once. */
export const LIVE = {
  refetchInterval: () => pauseMs(),
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
      const { items, isRefreshing, retry, held } = latest.current
      const pause = pauseMs()
      // What never loaded waits for its Retry; what is under way must not be cut off.
      if (!items || isRefreshing || pause === false) return
      // A steady list keeps its rows in their places itself.
      if (isCovered() || (!held && isInHand())) return
      if (Date.now() - asked < pause * pages) return
      asked = Date.now()
      retry()
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [pages])
}
