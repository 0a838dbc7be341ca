// Times: relative where one skims, exact and with its zone on hover.
import { useSyncExternalStore } from 'react'
import { written } from './zone'

const TICK_MS = 15_000
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'always' })

// One clock for the page, so that two cells never disagree about what "now" is.
let now = Date.now()
const listeners = new Set<() => void>()
setInterval(() => {
  now = Date.now()
  for (const tell of listeners) tell()
}, TICK_MS)

function subscribe(tell: () => void) {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

export function exactly(at: string): string {
  const { date, time, zone } = written(Date.parse(at))
  return `${date} ${time} ${zone}`
}

function ago(at: string, from: number): string {
  const seconds = (Date.parse(at) - from) / 1000
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size)
  return unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : 'just now'
}

/** A length of time in its largest unit or two: `2 d 4 h`. */
export function lasting(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)]
  if (days > 0) return hours && days < 10 ? `${days} d ${hours} h` : `${days} d`
  if (hours > 0) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return minutes > 0 ? `${minutes} min` : 'under a minute'
}

/** The same where seconds matter: `42 s`, `2 min 10 s`. */
export function briefly(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 600 && seconds % 60) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return lasting(seconds * 1000)
}

export function Moment({ at, otherwise = 'never' }: { at: string | null; otherwise?: string }) {
  const from = useNow()
  if (!at) return <span className="text-soft">{otherwise}</span>
  return (
    <time dateTime={at} title={exactly(at)} className="whitespace-nowrap">
      {ago(at, from)}
    </time>
  )
}
