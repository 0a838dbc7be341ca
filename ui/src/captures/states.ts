// The states of a capture and the events of its life: a word, an icon, a colour, and what each means.
import {
  Ban,
  CircleCheck,
  CirclePlay,
  Clock,
  Inbox,
  type LucideIcon,
  RotateCcw,
  Trash2,
  TriangleAlert,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { State } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }

export const STATES: Record<State, Sign> = {
  received: { label: 'Received', tone: 'neutral', icon: Inbox, means: 'Waits for a consumer.' },
  claimed: { label: 'Claimed', tone: 'accent', icon: CirclePlay, means: 'A consumer has it on a lease.' },
  delivered: { label: 'Delivered', tone: 'good', icon: CircleCheck, means: 'A consumer has taken it over.' },
  rejected: { label: 'Rejected', tone: 'warn', icon: Ban, means: 'A consumer will not have it.' },
  stuck: { label: 'Stuck', tone: 'bad', icon: TriangleAlert, means: 'Too many hand-offs failed.' },
}

export const STATE_NAMES = Object.keys(STATES) as State[]

export function isState(text: string): text is State {
  return text in STATES
}

/** Set aside until somebody puts it back. */
export function isAside(state: State): boolean {
  return state === 'stuck' || state === 'rejected'
}

export const EVENTS: Record<string, Omit<Sign, 'means'>> = {
  received: { label: 'Received', tone: 'neutral', icon: Inbox },
  late: { label: 'Late', tone: 'warn', icon: Clock },
  claimed: { label: 'Claimed', tone: 'accent', icon: CirclePlay },
  redelivered: { label: 'Hand-off failed, waits again', tone: 'warn', icon: RotateCcw },
  delivered: { label: 'Delivered', tone: 'good', icon: CircleCheck },
  rejected: { label: 'Rejected', tone: 'warn', icon: Ban },
  stuck: { label: 'Stuck', tone: 'bad', icon: TriangleAlert },
  requeued: { label: 'Put back', tone: 'accent', icon: RotateCcw },
  deleted: { label: 'Deleted', tone: 'bad', icon: Trash2 },
}
