// A list of runs asks again by itself, unless news come anyway or somebody has stopped them.
import { useEffect, useRef } from 'react'
import type { List } from '@/api/lists'
import { isCovered, isInHand, useRhythm } from '@/live/rhythm'
import type { Mode } from '@/live/store'

const EVERY_MS = { connecting: 5_000, live: 30_000, polling: 5_000, stale: 5_000 }

export function useRefreshed<T>(list: List<T>, mode: Mode) {
  const chosen = useRhythm()
  const latest = useRef(list)
  latest.current = list
  useEffect(() => {
    if (mode === 'paused') return
    const timer = setInterval(
      () => {
        const { items, isRefreshing, retry, held } = latest.current
        const isKept = isCovered() || (!held && isInHand())
        // What never loaded waits for its Retry; what is under way must not be cut off.
        if (items && !isRefreshing && !document.hidden && !isKept) retry()
      },
      Number(chosen) * 1000 || EVERY_MS[mode],
    )
    return () => clearInterval(timer)
  }, [mode, chosen])
}
