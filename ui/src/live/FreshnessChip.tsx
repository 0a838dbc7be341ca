// Says how fresh the page is and how its news come; pressed, it stands still until it is pressed again.
import { CirclePause, type LucideIcon, Radio, RefreshCw, Unplug } from 'lucide-react'
import { useSecond } from '@/kit/Countdown'
import { briefly } from '@/kit/Moment'
import { Tip } from '@/kit/Tip'
import { chooseRhythm, RHYTHMS, type Rhythm, toggleRhythm, useRhythm } from './rhythm'
import { heardAt, type Mode, useFreshness } from './store'

const MODES: Record<Mode, { icon: LucideIcon; ink: string; means: string }> = {
  connecting: { icon: RefreshCw, ink: 'text-soft', means: 'Asking the server for news as they come.' },
  live: { icon: Radio, ink: 'text-good', means: 'News come over a socket as they happen.' },
  polling: {
    icon: RefreshCw,
    ink: 'text-accent',
    means: 'The socket does not get through, so the server is asked for the same news. It is tried again.',
  },
  stale: { icon: Unplug, ink: 'text-warn', means: 'Nothing is heard from the server. Clocks stand still.' },
  paused: { icon: CirclePause, ink: 'text-warn', means: 'You stopped the news. Clocks stand still.' },
}

export function FreshnessChip() {
  const { mode } = useFreshness()
  const rhythm = useRhythm()
  const isTimed = mode === 'polling' && rhythm !== 'live'
  const { icon: Icon, ink } = MODES[mode]
  const means = isTimed ? `The server is asked every ${rhythm} seconds, as you chose.` : MODES[mode].means
  const act = mode === 'paused' ? 'Press to go on.' : 'Press to make the page stand still.'
  return (
    <Tip text={`${means} ${act}`} className="min-w-0">
      <button
        type="button"
        onClick={toggleRhythm}
        aria-pressed={mode === 'paused'}
        className={`flex min-w-0 items-center gap-1.5 rounded-md px-2.5 py-1 text-xs hover:bg-hover ${ink}`}
      >
        <Icon aria-hidden size={12} className="shrink-0" />
        <span role="status" aria-label="Freshness" className="truncate">
          {isTimed ? `every ${rhythm} s` : <Words mode={mode} />}
        </span>
      </button>
    </Tip>
  )
}

function Words({ mode }: { mode: Mode }) {
  if (mode === 'stale') return <Stale />
  return { connecting: 'connecting…', live: 'live', polling: 'polling', paused: 'paused by you' }[mode]
}

function Stale() {
  return `stale ${briefly(useSecond() - heardAt())} — reconnecting`
}

export const RHYTHM_WORDS: Record<Rhythm, string> = {
  live: 'Live',
  5: '5 s',
  15: '15 s',
  60: '60 s',
  off: 'Off',
}

/** How often everything is asked for again; remembered by this browser. */
export function RefreshControl() {
  const rhythm = useRhythm()
  return (
    <select
      aria-label="Refresh"
      title="How often the page asks for what is new"
      value={rhythm}
      onChange={(event) => chooseRhythm(event.target.value as Rhythm)}
      className="h-6 w-20 shrink-0 rounded-md border border-line bg-panel px-1 !text-xs text-soft hover:text-ink"
    >
      {RHYTHMS.map((one) => (
        <option key={one} value={one}>
          {RHYTHM_WORDS[one]}
        </option>
      ))}
    </select>
  )
}
