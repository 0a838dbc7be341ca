// A list whose rows keep their places while somebody has them in hand: what comes is counted, and shown when asked for.
import { useEffect, useReducer, useRef, useState } from 'react'
import type { List } from '@/api/lists'
import { isInHand } from '@/live/rhythm'

const LOOK_MS = 500

/** Whether a menu is open or rows are chosen. */
function useInHand(): boolean {
  const [isHeld, setIsHeld] = useState(false)
  useEffect(() => {
    const look = () => setIsHeld(isInHand())
    // What is let go of by other means than these is seen a moment later.
    const timer = setInterval(look, LOOK_MS)
    document.addEventListener('toggle', look, { capture: true })
    document.addEventListener('change', look, { capture: true })
    return () => {
      clearInterval(timer)
      document.removeEventListener('toggle', look, { capture: true })
      document.removeEventListener('change', look, { capture: true })
    }
  }, [])
  return isHeld
}

export function useSteady<T>(list: List<T>, idOf: (one: T) => string): List<T> {
  const isHeld = useInHand()
  const shown = useRef<{ of: string; items: T[] } | null>(null)
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  // Another question has other rows: nobody has those in hand yet.
  const kept = isHeld && shown.current?.of === list.of ? shown.current.items : null
  const { items, news } =
    kept && list.items ? inPlace(kept, list.items, idOf) : { items: list.items, news: 0 }

  useEffect(() => {
    shown.current = items ? { of: list.of, items } : null
  })

  function show() {
    shown.current = list.items ? { of: list.of, items: list.items } : null
    drawAgain()
  }

  return { ...list, items, held: { news, show } }
}

/** The rows where they were, as they are now. What comes below them moves nothing; what would stand between is counted. */
function inPlace<T>(kept: T[], fresh: T[], idOf: (one: T) => string): { items: T[]; news: number } {
  const now = new Map(fresh.map((one) => [idOf(one), one]))
  const known = new Set(kept.map(idOf))
  const isNew = (one: T) => !known.has(idOf(one))
  const last = fresh.findLastIndex((one) => !isNew(one))
  const below = last < 0 ? [] : fresh.slice(last + 1)
  const items = kept.map((one) => now.get(idOf(one)) ?? one).concat(below)
  return { items, news: fresh.filter(isNew).length - below.length }
}
