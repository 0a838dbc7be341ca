// The latest items of the run that is looked at, newest first: as many as one can follow, and no more.
import { useSyncExternalStore } from 'react'
import type { RunEvent, Told } from '@/runs/types'

const MOST = 100
const NONE: Told[] = []

let followed = ''
let items: Told[] = NONE
const listeners = new Set<() => void>()

/** Begin with this run; what was told of another is forgotten. */
export function follow(run: string) {
  if (run === followed) return
  followed = run
  items = NONE
  for (const tell of listeners) tell()
}

export function noteItems(event: RunEvent) {
  if (event.type !== 'items' || event.run_id !== followed) return
  const known = new Set(items.map(({ id }) => id))
  const told = (event.items as Omit<Told, 'at'>[]).filter(({ id }) => !known.has(id))
  items = [...told.map((item) => ({ ...item, at: event.at })).reverse(), ...items].slice(0, MOST)
  for (const tell of listeners) tell()
}

export function useFeed(): Told[] {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => items,
  )
}
