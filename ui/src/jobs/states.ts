// Where a job or a part of one can be, and what can happen to it: a word, an icon, a colour, and what each means.
import {
  AlarmClock,
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePlay,
  CircleSlash2,
  CircleX,
  Clock,
  CloudOff,
  Inbox,
  type LucideIcon,
  MailX,
  OctagonX,
  RotateCcw,
  Send,
  SlidersHorizontal,
  Undo2,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { Status } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }

export const STATUSES: Record<Status, Sign> = {
  pending: { label: 'Pending', tone: 'neutral', icon: CircleDashed, means: 'Waits for a worker.' },
  dispatched: { label: 'Dispatched', tone: 'accent', icon: Send, means: 'A worker has taken it.' },
  processing: { label: 'Processing', tone: 'accent', icon: CirclePlay, means: 'Results are coming in.' },
  completed: { label: 'Completed', tone: 'good', icon: CircleCheck, means: 'Everything is there.' },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX, means: 'No further attempt is made.' },
  timed_out: { label: 'Timed out', tone: 'bad', icon: Clock, means: 'Its deadline passed.' },
  partial: { label: 'Partial', tone: 'warn', icon: CircleSlash2, means: 'Some of its parts are completed.' },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: Ban, means: 'Somebody ended it.' },
}

export const STATUS_NAMES = Object.keys(STATUSES) as Status[]

export function isStatus(text: string): text is Status {
  return text in STATUSES
}

export function isOver(status: Status): boolean {
  return status !== 'pending' && status !== 'dispatched' && status !== 'processing'
}

export const EVENTS: Record<string, Omit<Sign, 'means'>> = {
  accepted: { label: 'Accepted', tone: 'neutral', icon: Inbox },
  dispatched: { label: 'Given to a worker', tone: 'accent', icon: Send },
  completed: { label: 'Completed', tone: 'good', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX },
  retrying: { label: 'To be tried again', tone: 'warn', icon: RotateCcw },
  retried: { label: 'Retried by hand', tone: 'accent', icon: RotateCcw },
  replayed: { label: 'Replayed', tone: 'accent', icon: RotateCcw },
  stopped: { label: 'Its replay was stopped', tone: 'warn', icon: OctagonX },
  prioritised: { label: 'Its priority was changed', tone: 'accent', icon: SlidersHorizontal },
  put_off: { label: 'Put off by hand', tone: 'accent', icon: AlarmClock },
  snoozed: { label: 'Put off', tone: 'warn', icon: AlarmClock },
  returned: { label: 'Given back undone', tone: 'warn', icon: Undo2 },
  lost: { label: 'Its worker fell silent', tone: 'warn', icon: CloudOff },
  incomplete: { label: 'Not all results came', tone: 'warn', icon: CloudOff },
  timed_out: { label: 'Timed out', tone: 'bad', icon: Clock },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: Ban },
  dead_lettered: { label: 'Moved to the dead letters by hand', tone: 'bad', icon: MailX },
}

/** `worker_lost` as people say it. */
export function worded(code: string): string {
  return code.replaceAll('_', ' ')
}
