// The states of an account and the outcomes of its leases: a word, an icon, a colour, and what each means.
import {
  Ban,
  CircleCheck,
  CircleMinus,
  CirclePlay,
  CircleX,
  Gauge,
  KeySquare,
  LogOut,
  type LucideIcon,
  Snowflake,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { How, Outcome, State } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }

/** In the order they stand in a bar: at work, ready, soon ready, not ready. */
export const STATES: Record<State, Sign & { fill: string }> = {
  using: {
    label: 'Using',
    tone: 'accent',
    icon: CirclePlay,
    means: 'Somebody holds a lease on it.',
    fill: 'border-accent bg-accent-wash text-accent-strong',
  },
  active: {
    label: 'Active',
    tone: 'good',
    icon: CircleCheck,
    means: 'Free, and can be leased.',
    fill: 'border-good bg-good-wash text-good',
  },
  cooling: {
    label: 'Cooling',
    tone: 'warn',
    icon: Snowflake,
    means: 'Rests for a while, then is free again.',
    fill: 'border-warn bg-warn-wash text-warn',
  },
  inactive: {
    label: 'Inactive',
    tone: 'neutral',
    icon: CircleMinus,
    means: 'Set aside until somebody activates it.',
    fill: 'border-soft bg-hover text-soft',
  },
  blocked: {
    label: 'Blocked',
    tone: 'bad',
    icon: Ban,
    means: 'The site blocked it, or it ended unclean too often.',
    fill: 'border-bad bg-bad-wash text-bad',
  },
}

export const STATE_NAMES = Object.keys(STATES) as State[]

export function isState(text: string): text is State {
  return text in STATES
}

export const OUTCOMES: Record<Outcome, Sign> = {
  ok: { label: 'OK', tone: 'good', icon: CircleCheck, means: 'The work was done.' },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX, means: 'It did not work, whatever the cause.' },
  rate_limited: { label: 'Rate limited', tone: 'warn', icon: Gauge, means: 'The site asked for a pause.' },
  blocked: { label: 'Blocked', tone: 'bad', icon: Ban, means: 'The site no longer lets it in.' },
  logged_out: { label: 'Logged out', tone: 'warn', icon: LogOut, means: 'It has to sign in again.' },
  invalid_credentials: {
    label: 'Credentials refused',
    tone: 'bad',
    icon: KeySquare,
    means: 'The site did not take what it signs in with.',
  },
}

/** How a lease ended when its holder did not give it back. */
export const ENDS: Record<Exclude<How, 'released'>, { label: string; tone: Tone; means: string }> = {
  expired: { label: 'Ran out', tone: 'warn', means: 'No heartbeat came in time: an unclean end.' },
  revoked: { label: 'Revoked', tone: 'neutral', means: 'An operator took it from its holder.' },
  superseded: { label: 'Superseded', tone: 'neutral', means: 'Its work was given to somebody else.' },
}
