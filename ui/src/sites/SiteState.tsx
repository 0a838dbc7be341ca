// Whether a site is open, and how far an address is trusted, as small signs.
import { CircleCheck, CircleHelp, CirclePause, Eye, KeyRound, Link2, type LucideIcon } from 'lucide-react'
import type { Site, Trust } from '@/api/types'
import { Badge } from '@/kit/Badge'

export function SiteState({ site }: { site: Site }) {
  return site.paused ? (
    <Badge tone="warn" icon={CirclePause} title={site.pause_reason ?? undefined}>
      Paused
    </Badge>
  ) : (
    <Badge tone="good" icon={CircleCheck}>
      Open
    </Badge>
  )
}

type Meaning = { label: string; means: string; icon: LucideIcon }

export const TRUST: Record<Trust, Meaning> = {
  credentials: {
    label: 'Credentials',
    means: 'URLs and sessions follow: accounts sign in there with what they have.',
    icon: KeyRound,
  },
  urls: {
    label: 'URLs only',
    means: 'URLs follow, sessions stay behind: nothing secret is sent to the new address.',
    icon: Link2,
  },
  observed: {
    label: 'Observed',
    means: 'A proposal for the record. The site stays where it is and nothing is rewritten.',
    icon: Eye,
  },
}

function isTrust(text: string): text is Trust {
  return text in TRUST
}

export function trustLabel(trust: string): string {
  return isTrust(trust) ? TRUST[trust].label : trust
}

/** Quiet on purpose: nearly every address has the same trust, and what is rare should stand out. */
export function TrustMark({ trust }: { trust: string }) {
  const known = isTrust(trust) ? TRUST[trust] : null
  const Icon = known?.icon ?? CircleHelp
  return (
    <span
      title={known?.means}
      className="inline-flex h-5 items-center gap-1 text-xs whitespace-nowrap text-soft"
    >
      <Icon aria-hidden size={12} />
      {trustLabel(trust)}
    </span>
  )
}
