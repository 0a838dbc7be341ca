// A seed's standing, its last visit and its address as the small signs they are everywhere.
import type { ReactNode } from 'react'
import { Badge } from '@/kit/Badge'
import { useSecond } from '@/kit/Countdown'
import { OUTCOMES, STANDINGS, standingOf } from './states'
import type { Seed, VisitOutcome } from './types'

export function useStanding(seed: Seed) {
  return standingOf(seed, useSecond())
}

export function StandingBadge({ seed }: { seed: Seed }) {
  const { label, tone, icon, means } = STANDINGS[useStanding(seed)]
  return (
    <Badge tone={tone} icon={icon} title={means}>
      {label}
    </Badge>
  )
}

const INKS = {
  good: 'text-good',
  bad: 'text-bad',
  warn: 'text-warn',
  neutral: 'text-soft',
  accent: 'text-accent',
}

/** How a visit went, and what there is to add. */
export function OutcomeMark({ outcome, children }: { outcome: VisitOutcome; children?: ReactNode }) {
  const { label, tone, icon: Icon, means } = OUTCOMES[outcome]
  return (
    <span title={means} className={`inline-flex items-center gap-1 ${INKS[tone]}`}>
      <Icon aria-hidden size={13} className="shrink-0" />
      {label}
      {children}
    </span>
  )
}

/** How the last visit went, and what it found. */
export function VisitMark({ seed }: { seed: Seed }) {
  const { last_outcome: outcome, last_found: found, consecutive_failures: failures } = seed
  if (!outcome) return <span className="text-soft">none yet</span>
  return (
    <OutcomeMark outcome={outcome}>
      {outcome === 'ok' && found !== null && (
        <span className="whitespace-nowrap text-soft">· {found} found</span>
      )}
      {outcome === 'failed' && failures > 1 && <span className="text-soft">· {failures} in a row</span>}
    </OutcomeMark>
  )
}

/** The address to show: without its scheme, which is nearly always the same. */
export function shortUrl(seed: Seed): string {
  return (seed.url ?? seed.original_url).replace(/^https?:\/\//, '')
}
