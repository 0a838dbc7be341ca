// Where a source can be: a word, an icon, a colour, and what each means.
import {
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Hourglass,
  type LucideIcon,
  RefreshCw,
} from 'lucide-react'
import type { Tone } from '@/kit/Badge'
import type { Source } from './types'

type Sign = { label: string; tone: Tone; icon: LucideIcon; means: string }

const STATES: Record<string, Sign> = {
  idle: { label: 'Idle', tone: 'neutral', icon: CircleDashed, means: 'No sweep is under way.' },
  sweeping: { label: 'Sweeping', tone: 'accent', icon: RefreshCw, means: 'It is read page by page.' },
  waiting: { label: 'Waiting', tone: 'warn', icon: Hourglass, means: 'It is asked for nothing just now.' },
  paused: {
    label: 'Stopped',
    tone: 'warn',
    icon: CirclePause,
    means: 'Somebody stopped it; a start goes on.',
  },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX, means: 'It could not go on by itself.' },
}

const WAITS: Record<string, string> = { rate: 'its rate', retry: 'a retry', queue: 'the writer' }

export function signOf(source: Source): Sign {
  if (!source.enabled) {
    return { label: 'Switched off', tone: 'neutral', icon: CircleDashed, means: 'Its file says so.' }
  }
  if (source.state === 'waiting' && source.waiting_for) {
    const sign = STATES.waiting as Sign
    return { ...sign, label: `Waiting for ${WAITS[source.waiting_for] ?? source.waiting_for}` }
  }
  if (source.state === 'idle' && source.last_sweep) {
    return { label: 'Up to date', tone: 'good', icon: CircleCheck, means: 'Its last sweep came to its end.' }
  }
  return STATES[source.state] ?? (STATES.idle as Sign)
}

export function isBusy({ state }: Source): boolean {
  return state === 'sweeping' || state === 'waiting'
}
