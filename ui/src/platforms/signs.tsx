// How a platform stands, as small signs: whether it runs, its breaker, how full it is, how often it fails, its books.
import { CircleCheck, CirclePause, CircleSlash2, Scale, TriangleAlert, Unplug, Zap } from 'lucide-react'
import { Badge, INKS, type Tone } from '@/kit/Badge'
import { Countdown } from '@/kit/Countdown'
import { Meter } from '@/kit/Meter'
import { briefly } from '@/kit/Moment'
import type { Books, Breaker, Override, Platform, Rate } from './types'

const MANY_FAIL = 0.2
const SOME_FAIL = 0.05

export function PlatformState({ platform }: { platform: Platform }) {
  return platform.paused ? (
    <Badge tone="warn" icon={CirclePause} title={platform.pause_reason ?? undefined}>
      Paused
    </Badge>
  ) : (
    <Badge tone="good" icon={CircleCheck} title="Nobody has paused it.">
      Running
    </Badge>
  )
}

/** By whom, and why. */
export function pausedText({ paused_by, pause_reason }: Platform): string {
  return [`by ${paused_by ?? 'somebody'}`, pause_reason].filter(Boolean).join(': ')
}

export function BreakerBadge({ breaker }: { breaker: Breaker }) {
  if (breaker.state === 'closed') {
    return (
      <Badge icon={Zap} title="Tasks begin as they come.">
        Closed
      </Badge>
    )
  }
  return breaker.probing ? (
    <Badge
      tone="warn"
      icon={CircleSlash2}
      title="One task is being tried: if it succeeds, the breaker closes."
    >
      Half-open
    </Badge>
  ) : (
    <Badge tone="bad" icon={Unplug} title={breaker.reason ?? undefined}>
      Open
    </Badge>
  )
}

/** When the next task is tried at a breaker that is open. */
export function NextProbe({ breaker }: { breaker: Breaker }) {
  if (breaker.state === 'closed' || !breaker.next_probe_at) return null
  return <Countdown until={breaker.next_probe_at} before="next probe in " over="a probe is due" />
}

export function InFlight({ platform }: { platform: Platform }) {
  const { in_flight, concurrency } = platform
  return <Meter label={`In flight at ${platform.platform}`} value={in_flight} limit={concurrency} />
}

/** `5 per s`, `30 per min`, `1 per 20 s` */
export function rateText({ tasks, per_seconds }: Rate): string {
  if (per_seconds === 1) return `${tasks} per s`
  return `${tasks} per ${per_seconds < 60 ? `${per_seconds} s` : briefly(per_seconds * 1000).replace(/^1 (?=\w+$)/, '')}`
}

/** `8 at once, now 12`; both, where both differ. */
export function overrideText({ concurrency, rate, file }: Override): string {
  const said = file.rate ? rateText(file.rate) : 'no rate'
  const told = [
    concurrency !== null &&
      `file says ${file.concurrency.toLocaleString('en')} at once, now ${concurrency.toLocaleString('en')}`,
    rate && `file says ${said}, now ${rateText(rate)}`,
  ]
  return told.filter(Boolean).join('; ')
}

export function percentText(share: number): string {
  return `${Number((100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0))} %`
}

function rateTone(rate: number): Tone {
  if (rate >= MANY_FAIL) return 'bad'
  return rate >= SOME_FAIL ? 'warn' : 'good'
}

export function FailureRate({ rate }: { rate: number | null }) {
  if (rate === null) return <span className="text-soft">nothing ended</span>
  const tone = rateTone(rate)
  return (
    <span className={`inline-flex items-center gap-1 ${INKS[tone]}`} title="Of what ended in the last hour.">
      {tone === 'bad' && <TriangleAlert aria-hidden size={12} />}
      {percentText(rate)}
    </span>
  )
}

export function Oldest({ seconds }: { seconds: number | null }) {
  if (seconds === null) return <span className="text-soft">nothing waits</span>
  return <span className="whitespace-nowrap">{briefly(seconds * 1000)}</span>
}

export function BooksBadge({ books }: { books: Books | undefined }) {
  const unaccounted = books?.unaccounted ?? 0
  return unaccounted === 0 ? (
    <Badge tone="good" icon={Scale} title="Everything that was ever accepted is accounted for.">
      0 unaccounted
    </Badge>
  ) : (
    <Badge
      tone="bad"
      icon={TriangleAlert}
      title="Something was accepted and is nowhere: that should never be."
    >
      {unaccounted} unaccounted
    </Badge>
  )
}
