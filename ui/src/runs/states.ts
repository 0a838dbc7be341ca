// Where a run or an item can be, why a run is paused, and what can happen to one: a word, an icon, a colour, a meaning.
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CirclePlay,
  CircleX,
  Clock,
  FilePlus2,
  Gauge,
  type LucideIcon,
  RotateCw,
  Scissors,
  SkipForward,
  TriangleAlert,
  Wallet,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { ItemStatus, PauseReason, Run, Status } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }

export const STATUSES: Record<Status, Sign> = {
  pending: { label: 'Pending', tone: 'neutral', icon: CircleDashed, means: 'Nothing of it has begun.' },
  running: { label: 'Running', tone: 'accent', icon: CirclePlay, means: 'Items are being collected.' },
  paused: { label: 'Paused', tone: 'warn', icon: CirclePause, means: 'No further item begins.' },
  completed: { label: 'Completed', tone: 'good', icon: CircleCheck, means: 'Every item has its outcome.' },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX, means: 'Nothing came of it but failures.' },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: Ban, means: 'Somebody ended it.' },
}
export const STATUS_NAMES = Object.keys(STATUSES) as Status[]

export const PAUSES: Record<PauseReason, { label: string; sentence: string }> = {
  operator: { label: 'by an operator', sentence: 'Somebody paused it. Resume it when it may go on.' },
  budget: { label: 'the cap is reached', sentence: 'The cap is reached: raise it and resume, or cancel.' },
  provider_down: {
    label: 'provider down',
    sentence: 'Its provider is down. It is tried from time to time, and the run goes on by itself.',
  },
  failures: {
    label: 'too many failures',
    sentence: 'Most of the latest items failed. See why, then resume or cancel.',
  },
}

export const ITEM_STATUSES: Record<ItemStatus, Omit<Sign, 'means'>> = {
  pending: { label: 'Pending', tone: 'neutral', icon: CircleDashed },
  processing: { label: 'In flight', tone: 'accent', icon: CirclePlay },
  completed: { label: 'Completed', tone: 'good', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX },
  skipped: { label: 'Skipped', tone: 'neutral', icon: SkipForward },
}
export const ITEM_STATUS_NAMES = Object.keys(ITEM_STATUSES) as ItemStatus[]

export const EVENTS: Record<string, Omit<Sign, 'means'>> = {
  created: { label: 'Planned', tone: 'neutral', icon: FilePlus2 },
  wanted: { label: 'Asked for a slot', tone: 'neutral', icon: Clock },
  started: { label: 'Started', tone: 'accent', icon: CirclePlay },
  paused: { label: 'Paused', tone: 'warn', icon: CirclePause },
  resumed: { label: 'Resumed', tone: 'accent', icon: CirclePlay },
  recovered: { label: 'Taken over from a server that fell silent', tone: 'warn', icon: RotateCw },
  stumbled: { label: 'Something unexpected happened', tone: 'warn', icon: TriangleAlert },
  cap_changed: { label: 'Another cap', tone: 'accent', icon: Wallet },
  collected_skipped: { label: 'Collected lately, and skipped', tone: 'neutral', icon: SkipForward },
  retried: { label: 'What failed is tried again', tone: 'accent', icon: RotateCw },
  pace_changed: { label: 'Another pace', tone: 'accent', icon: Gauge },
  categories_dropped: { label: 'Categories were dropped', tone: 'warn', icon: Scissors },
  budget_warning: { label: 'The soft limit is passed', tone: 'warn', icon: TriangleAlert },
  budget_overrun: { label: 'Calls cost more than was set aside', tone: 'bad', icon: TriangleAlert },
  completed: { label: 'Completed', tone: 'good', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: Ban },
}

export function isStatus(text: string): text is Status {
  return text in STATUSES
}

export function isItemStatus(text: string): text is ItemStatus {
  return text in ITEM_STATUSES
}

export function isOver({ status }: Pick<Run, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

export function doneItems({ processed_items, failed_items, skipped_items }: Run): number {
  return processed_items + failed_items + skipped_items
}
