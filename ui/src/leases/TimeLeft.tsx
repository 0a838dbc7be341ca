// How long a lease still lives without a heartbeat, as a bar and to the second.
import { clock, useSecond } from '@/kit/Countdown'
import { exactly } from '@/kit/Moment'
import type { Lease } from './api'

// A lease does not say for how long it was granted, so a bar is full from two minutes on, the usual time, or from
// the whole life of a lease that is shorter.
const FULL_MS = 120_000
const SOON_MS = 30_000
const VERY_SOON_MS = 10_000

export function TimeLeft({ lease }: { lease: Lease }) {
  const until = Date.parse(lease.expires_at)
  const left = Math.max(0, until - useSecond())
  const full = Math.min(FULL_MS, until - Date.parse(lease.acquired_at))
  const share = Math.min(1, left / Math.max(full, 1))
  const fill = left < VERY_SOON_MS ? 'bg-bad' : left < SOON_MS ? 'bg-warn' : 'bg-accent'
  const words = left > 0 ? clock(left) : 'ending'
  return (
    <div title={`Ends ${exactly(lease.expires_at)}`} className="flex items-center gap-2.5">
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> each in their own way */}
      <div
        role="meter"
        aria-label="Time left"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={words}
        className="h-1.5 w-full min-w-8 max-w-36 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div
          style={{ width: `${share * 100}%` }}
          className={`h-full rounded-full transition-[width] duration-1000 ease-linear ${fill}`}
        />
      </div>
      <span className="min-w-10 text-right whitespace-nowrap">{words}</span>
    </div>
  )
}
