// Time that is running out, to the second.
import { useSyncExternalStore } from 'react'
import { exactly } from './Moment'

// One clock for all, which stands still while nobody looks at it.
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick() {
  now = Date.now()
  for (const tell of listeners) tell()
}

function subscribe(tell: () => void) {
  listeners.add(tell)
  timer ??= setInterval(tick, 1000)
  return () => {
    listeners.delete(tell)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** What time it is, each second anew. */
export function useSecond(): number {
  // While nobody listened the clock stood still, so what it says first may be old.
  return useSyncExternalStore(subscribe, () => {
    if (!timer && Date.now() - now > 1000) now = Date.now()
    return now
  })
}

/** `0:09`, `12:30`, `3 h 5 min`, `2 d 4 h`. */
export function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

type Props = { until: string; before?: string; after?: string; over?: string }

/** How long until then; `over` is said once it has come and the server has not been asked again yet. */
export function Countdown({ until, before = '', after = '', over = 'any moment' }: Props) {
  const left = Date.parse(until) - useSecond()
  return (
    <time dateTime={until} title={exactly(until)} className="whitespace-nowrap">
      {left > 0 ? `${before}${clock(left)}${after}` : over}
    </time>
  )
}
