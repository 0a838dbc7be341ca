// A pool as one bar: as many parts as there are states in it, each as long as it has accounts and the way to see them.
import { Link } from 'react-router'
import { STATE_NAMES, STATES } from './states'
import type { Counts, State } from './types'

type Props = {
  /** Whose accounts these are, for those who cannot see the bar. */
  of: string
  counts: Counts
  linkTo: (state: State) => string
  chosen?: State
}

export function StateBar({ of, counts, linkTo, chosen }: Props) {
  const parts = STATE_NAMES.filter((state) => counts[state])
  if (parts.length === 0) return <div className="h-6 rounded-md bg-sunken ring-1 ring-line ring-inset" />
  return (
    <ul aria-label={`Accounts of ${of} by state`} className="flex h-6 gap-0.5">
      {parts.map((state) => (
        <li
          key={state}
          style={{ flexGrow: counts[state] }}
          className="min-w-7 basis-0 overflow-hidden first:rounded-l-md last:rounded-r-md"
        >
          <Segment
            state={state}
            count={counts[state] ?? 0}
            to={linkTo(state)}
            of={of}
            isChosen={chosen === state}
          />
        </li>
      ))}
    </ul>
  )
}

type SegmentProps = { state: State; count: number; to: string; of: string; isChosen: boolean }

function Segment({ state, count, to, of, isChosen }: SegmentProps) {
  const { label, icon: Icon, fill } = STATES[state]
  const words = `${count} ${label.toLowerCase()} at ${of}`
  return (
    <Link
      to={to}
      title={words}
      aria-current={isChosen || undefined}
      className={`@container flex h-full items-center justify-center gap-1 border-b-3 text-xs font-semibold hover:underline focus-visible:-outline-offset-2 ${fill} ${isChosen ? 'ring-2 ring-current ring-inset' : ''}`}
    >
      <Icon aria-hidden size={12} strokeWidth={2.5} className="hidden shrink-0 @[2.75rem]:block" />
      {count} <span className="sr-only font-medium @[6.5rem]:not-sr-only">{label.toLowerCase()}</span>
      <span className="sr-only"> at {of}</span>
    </Link>
  )
}
