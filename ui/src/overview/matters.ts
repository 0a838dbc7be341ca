// What can need somebody: what it is called, its sign, and where one sees to it.
import {
  Ban,
  CirclePause,
  CloudOff,
  HardHat,
  type LucideIcon,
  MailX,
  OctagonPause,
  Timer,
  Unplug,
  WalletCards,
} from 'lucide-react'
import type { Concern, Matter } from './api'

type Sign = { label: string; icon: LucideIcon; to: (subject: string) => string }

const named = (name: string, subject: string) => (subject ? `${name}=${encodeURIComponent(subject)}` : '')

export const MATTERS: Record<Matter, Sign> = {
  breaker_open: { label: 'Breaker open', icon: Unplug, to: (slug) => `/platforms/${slug}` },
  no_workers: {
    label: 'No workers',
    icon: HardHat,
    to: (slug) => `/jobs?${named('platform', slug)}&status=pending`,
  },
  run_stopped: { label: 'Run stopped', icon: OctagonPause, to: (id) => `/runs/${id}` },
  source_failed: { label: 'Source down', icon: CloudOff, to: () => '/sources' },
  dead_letters: {
    label: 'Dead letters',
    icon: MailX,
    to: (slug) => `/dead-letters?${named('platform', slug)}`,
  },
  budget: { label: 'Budget', icon: WalletCards, to: (id) => `/runs/${id}?tab=cost` },
  accounts_blocked: {
    label: 'Accounts blocked',
    icon: Ban,
    to: (slug) => `/accounts?${named('site', slug)}&state=blocked`,
  },
  seeds_overdue: {
    label: 'Seeds overdue',
    icon: Timer,
    to: (slug) => `/seeds?${named('site', slug)}&due=true`,
  },
  platform_paused: { label: 'Platform paused', icon: CirclePause, to: (slug) => `/platforms/${slug}` },
  site_paused: { label: 'Site paused', icon: CirclePause, to: (slug) => `/sites/${slug}` },
}

export function placeOf({ matter, subject }: Concern): string {
  return MATTERS[matter].to(subject).replace(/\?&?$/, '').replace('?&', '?')
}
