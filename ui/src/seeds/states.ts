// How a seed stands right now and how its last visit went: a word, an icon, a colour, and what each means.
import {
  CircleCheck,
  CircleMinus,
  CirclePlay,
  CircleX,
  Clock,
  type LucideIcon,
  Sprout,
  Unplug,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { Seed, VisitOutcome } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }
export type Standing = 'held' | 'due' | 'waiting' | 'disabled' | 'gone'

export const STANDINGS: Record<Standing, Sign> = {
  held: { label: 'Held', tone: 'accent', icon: CirclePlay, means: 'Somebody visits it on a lease.' },
  due: {
    label: 'Due',
    tone: 'good',
    icon: Sprout,
    means: 'Its time has come: the next who asks may get it.',
  },
  waiting: { label: 'Waiting', tone: 'neutral', icon: Clock, means: 'Its time has not come yet.' },
  disabled: {
    label: 'Disabled',
    tone: 'neutral',
    icon: CircleMinus,
    means: 'Left alone until it is enabled.',
  },
  gone: { label: 'Gone', tone: 'warn', icon: Unplug, means: 'A visit found that it is not there any more.' },
}

export function standingOf(seed: Seed, now: number): Standing {
  if (seed.lease_id) return 'held'
  if (!seed.enabled) return seed.last_outcome === 'gone' ? 'gone' : 'disabled'
  return Date.parse(seed.next_due_at) <= now ? 'due' : 'waiting'
}

export const OUTCOMES: Record<VisitOutcome, Sign> = {
  ok: { label: 'OK', tone: 'good', icon: CircleCheck, means: 'It was visited.' },
  failed: {
    label: 'Failed',
    tone: 'bad',
    icon: CircleX,
    means: 'The visit failed; it is tried again, later each time.',
  },
  gone: { label: 'Gone', tone: 'warn', icon: Unplug, means: 'It is not there any more and is left alone.' },
}
