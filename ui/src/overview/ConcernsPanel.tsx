// What needs somebody, the worst first; each leads to where one sees to it.
import { CircleCheck } from 'lucide-react'
import { Link } from 'react-router'
import { Badge } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import type { Concern } from './api'
import { MATTERS, placeOf } from './matters'

const SHOWN = 12

export function ConcernsPanel({ concerns }: { concerns: Concern[] }) {
  const left = concerns.length - SHOWN
  return (
    <Panel
      title="Needs attention"
      lead={concerns.length > 0 ? 'What stands still, then what soon may.' : undefined}
    >
      {concerns.length === 0 ? (
        <p className="flex items-center gap-2.5 px-4 py-6 text-soft">
          <CircleCheck aria-hidden size={16} className="text-good" />
          Nothing. No breaker is open, no budget near its end, and nothing waits for somebody.
        </p>
      ) : (
        <ul aria-label="Needs attention" className="divide-y divide-line">
          {concerns.slice(0, SHOWN).map((concern) => (
            <Item key={`${concern.matter} ${concern.subject}`} concern={concern} />
          ))}
        </ul>
      )}
      {left > 0 && (
        <p className="border-t border-line px-4 py-2.5 text-xs text-soft">{left} more of the same.</p>
      )}
    </Panel>
  )
}

function Item({ concern }: { concern: Concern }) {
  const { label, icon } = MATTERS[concern.matter]
  return (
    <li
      data-row
      className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2.5 hover:bg-hover sm:flex-nowrap"
    >
      <span className="shrink-0 sm:w-36">
        <Badge tone={concern.weight === 'bad' ? 'bad' : 'warn'} icon={icon}>
          {label}
        </Badge>
      </span>
      <span className="min-w-0 flex-1 basis-full [overflow-wrap:anywhere] sm:basis-auto">
        <Link to={placeOf(concern)} className="font-medium text-accent-strong hover:underline">
          {concern.name}
        </Link>{' '}
        <span className="text-soft">{concern.detail}</span>
      </span>
      {concern.since && (
        <span className="text-xs text-soft">
          <Moment at={concern.since} />
        </span>
      )}
    </li>
  )
}
