// Whose clock times are written by: UTC, as the server's, or that of this machine. The browser remembers it.
import { useSyncExternalStore } from 'react'

const KEY = 'leasehold.zone'
export type Zone = 'utc' | 'local'

const listeners = new Set<() => void>()
let zone: Zone = localStorage.getItem(KEY) === 'local' ? 'local' : 'utc'

export function setZone(next: Zone) {
  zone = next
  if (next === 'utc') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, next)
  for (const tell of listeners) tell()
}

export function toggleZone() {
  setZone(zone === 'utc' ? 'local' : 'utc')
}

export function useZone(): Zone {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => zone,
  )
}

const two = (number: number) => String(number).padStart(2, '0')

/** `+02:00` of this machine at that time. */
function offset(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** The date and the time of day, in the zone that was chosen. */
export function written(milliseconds: number): { date: string; time: string; zone: string } {
  const at = new Date(milliseconds)
  if (zone === 'utc') {
    const text = at.toISOString()
    return { date: text.slice(0, 10), time: text.slice(11, 19), zone: 'UTC' }
  }
  return {
    date: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
    zone: `UTC${offset(at)}`,
  }
}
