// Views somebody comes back to: an address with its filters, under a name. Kept by this browser; shared by their address.
import { useSyncExternalStore } from 'react'

const KEY = 'leasehold.views'
const MOST = 20

export type View = { name: string; path: string; isOwn?: boolean }

/** What everybody has. */
const SHIPPED: View[] = [
  { name: 'Failing now', path: '/jobs?status=failed,timed_out,partial' },
  { name: 'Stuck > 15 min', path: '/jobs?status=pending,dispatched,processing&age=15m' },
  { name: 'Mine', path: '/runs?by=me' },
  { name: 'Over 80 % budget', path: '/runs?status=running,paused&used=80' },
]

const listeners = new Set<() => void>()
let views = SHIPPED.concat(read())

function read(): View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    if (!Array.isArray(found)) return []
    return found
      .filter((one) => typeof one?.name === 'string' && /^\/[^/]/.test(String(one?.path)))
      .slice(0, MOST)
      .map(({ name, path }) => ({ name, path, isOwn: true }))
  } catch {
    return []
  }
}

function keep(own: View[]) {
  views = SHIPPED.concat(own)
  localStorage.setItem(KEY, JSON.stringify(own.map(({ name, path }) => ({ name, path }))))
  for (const tell of listeners) tell()
}

const own = () => views.filter(({ isOwn }) => isOwn)

/** Why there can be no more, or not under this name. */
export function objectionTo(name: string): string | null {
  if (name.trim() === '') return 'It needs a name.'
  if (SHIPPED.some((one) => one.name === name.trim())) return 'Everybody has a view of this name.'
  const isNew = !own().some((one) => one.name === name.trim())
  return isNew && own().length >= MOST ? `There are ${MOST} already. Remove one first.` : null
}

/** The same name again is the same view, at another address. */
export function saveView(name: string, path: string) {
  if (objectionTo(name)) return
  keep([...own().filter((one) => one.name !== name.trim()), { name: name.trim(), path, isOwn: true }])
}

export function removeView(name: string) {
  keep(own().filter((one) => one.name !== name))
}

export function useViews(): View[] {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => views,
  )
}
