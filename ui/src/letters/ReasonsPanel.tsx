// How many letters there are of each reason; each leads to the list of them.
import { worded } from '@/jobs/states'
import type { LetterCount } from './types'

type Props = { counts: LetterCount[] | undefined; reason: string; onReason: (reason: string) => void }

type Group = { reason: string; open: number; total: number }

function grouped(counts: LetterCount[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { reason, open, total } of counts) {
    const group = groups.get(reason) ?? { reason, open: 0, total: 0 }
    groups.set(reason, { reason, open: group.open + open, total: group.total + total })
  }
  return [...groups.values()].sort((a, b) => b.open - a.open || b.total - a.total)
}

export function ReasonsPanel({ counts, reason, onReason }: Props) {
  if (!counts || counts.length === 0) return null
  return (
    <section aria-label="Reasons">
      <ul className="flex flex-wrap gap-2">
        {grouped(counts).map((group) => {
          const isChosen = group.reason === reason
          return (
            <li key={group.reason}>
              <button
                type="button"
                aria-pressed={isChosen}
                onClick={() => onReason(isChosen ? '' : group.reason)}
                title={`${group.open} of ${group.total} not replayed`}
                className="flex items-baseline gap-2 rounded-lg border border-line bg-panel px-3 py-1.5 shadow-raised hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-wash"
              >
                <span className={`font-semibold ${group.open > 0 ? 'text-bad' : 'text-soft'}`}>
                  {group.open.toLocaleString('en')}
                </span>
                <span className="[overflow-wrap:anywhere]">{worded(group.reason)}</span>
                {group.total > group.open && (
                  <span className="text-xs text-soft">{group.total - group.open} replayed</span>
                )}
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
