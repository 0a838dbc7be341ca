// An account's state, outcome, marks and labels as the small signs they are everywhere.
import { KeyRound, ShieldAlert } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { OUTCOMES, STATES } from './states'
import type { Account, Outcome, State } from './types'

export function StateBadge({ state }: { state: State }) {
  const { label, tone, icon, means } = STATES[state]
  return (
    <Badge tone={tone} icon={icon} title={means}>
      {label}
    </Badge>
  )
}

const INKS = {
  neutral: 'text-soft',
  accent: 'text-accent',
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
}

/** Quieter than a badge: a table has one in every row. */
export function OutcomeMark({ outcome }: { outcome: Outcome | null }) {
  if (!outcome) return <span className="text-soft">none yet</span>
  const { label, tone, icon: Icon, means } = OUTCOMES[outcome]
  return (
    <span title={means} className={`inline-flex items-center gap-1 whitespace-nowrap ${INKS[tone]}`}>
      <Icon aria-hidden size={13} className="shrink-0" />
      {label}
    </span>
  )
}

/** What to mind about an account, whatever its state. */
export function Marks({ account }: { account: Account }) {
  return (
    <>
      {account.needs_login && (
        <Badge tone="warn" icon={KeyRound} title="Its session is gone: whoever gets it has to sign in first.">
          Needs login
        </Badge>
      )}
      {account.on_probation && (
        <Badge
          tone="warn"
          icon={ShieldAlert}
          title="It came back from being blocked; one more bad end blocks it again."
        >
          Probation
        </Badge>
      )}
    </>
  )
}

type LabelsProps = { labels: Account['labels']; onChoose?: (label: string) => void }

export function Labels({ labels, onChoose }: LabelsProps) {
  const look =
    'inline-block max-w-full truncate rounded border border-line bg-sunken px-1.5 font-mono text-2xs/4.5 text-soft'
  const texts = Object.entries(labels).map(([name, value]) => `${name}:${value}`)
  return (
    <span className="flex flex-wrap gap-1">
      {texts.map((text) =>
        onChoose ? (
          <button
            key={text}
            type="button"
            title={`Only those with ${text}`}
            onClick={() => onChoose(text)}
            className={`${look} hover:border-edge hover:text-ink`}
          >
            {text}
          </button>
        ) : (
          <span key={text} title={text} className={look}>
            {text}
          </span>
        ),
      )}
    </span>
  )
}
