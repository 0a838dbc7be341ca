// How often the page is refreshed, as somebody chose and this browser remembers: as news come, every few seconds, or not.
import { useSyncExternalStore } from 'react'

const KEY = 'leasehold.refresh'
export const RHYTHMS = ['live', '5', '15', '60', 'off'] as const
export type Rhythm = (typeof RHYTHMS)[number]

const OFTEN_MS = 5_000
const HIDDEN_MS = 60_000

const listeners = new Set<() => void>()
let rhythm: Rhythm = RHYTHMS.find((one) => one === localStorage.getItem(KEY)) ?? 'live'
// Stopped for a moment, by the chip or its key; that is not remembered.
let isStopped = false

function tell() {
  for (const one of listeners) one()
}

export function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What was chosen, or `off` while it is stopped. */
export function currentRhythm(): Rhythm {
  return isStopped ? 'off' : rhythm
}

export function chooseRhythm(next: Rhythm) {
  rhythm = next
  isStopped = false
  localStorage.setItem(KEY, next)
  tell()
}

/** Stand still, or go on: what was off for good goes on live. */
export function toggleRhythm() {
  if (currentRhythm() !== 'off') isStopped = true
  else if (isStopped) isStopped = false
  else return chooseRhythm('live')
  tell()
}

export function useRhythm(): Rhythm {
  return useSyncExternalStore(subscribe, currentRhythm)
}

/** How long between two questions; false for never. A tab nobody looks at asks seldom. */
export function pauseMs(): number | false {
  const now = currentRhythm()
  if (now === 'off') return false
  const chosen = now === 'live' ? OFTEN_MS : Number(now) * 1000
  return document.hidden ? Math.max(HIDDEN_MS, chosen) : chosen
}

/** Rows must not move under a hand: while something is chosen or a menu is open, each keeps its place. */
export function isInHand(): boolean {
  return document.querySelector('[role=menu]:popover-open, [data-chooses] input:checked') !== null
}

/** Whoever is in a dialog sees nothing of the list behind it. */
export function isCovered(): boolean {
  return document.querySelector('dialog[open]') !== null
}
