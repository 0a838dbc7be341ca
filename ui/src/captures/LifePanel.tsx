// Everything that happened to a capture, oldest first; also to one that is no longer there.
import { Link } from 'react-router'
import type { Tone } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { useRepeated } from '@/kit/useRepeated'
import { useLife } from './api'
import { EVENTS } from './states'
import type { LifeEvent } from './types'

type Props = {
  id: string
  /** Where nothing is known of it, nothing is said. */
  isOnlyIfAny?: boolean
}

export function LifePanel({ id, isOnlyIfAny }: Props) {
  const list = useLife(id)
  useRepeated(list)
  if (isOnlyIfAny && !list.items?.length) return null
  return (
    <Panel title="Its life" lead="Everything that happened to it, oldest first.">
      {list.error !== null && (
        <div className="p-4">
          <Failure
            what="What happened to it could not be loaded."
            error={list.error}
            onRetry={list.retry}
            isRetrying={list.isRefreshing}
            isOld={list.items !== undefined}
          />
        </div>
      )}
      {!list.items && list.error === null && (
        <div role="status" aria-busy="true" aria-label="Loading its life" className="skeleton m-4 h-32" />
      )}
      {list.items && (
        <ol aria-label="Its life" className="flex flex-col px-4 pt-4">
          {list.items.map((event) => (
            <Stop key={event.id} event={event} />
          ))}
        </ol>
      )}
      <p className="border-t border-line px-4 py-2.5">
        <Link to={`/audit?subject=${encodeURIComponent(id)}`} className="text-accent hover:underline">
          The same in the audit, with every detail
        </Link>
      </p>
      {list.items && list.hasMore && <ListFooter list={list} shown={list.items.length} noun="event" />}
    </Panel>
  )
}

const INKS: Record<Tone, string> = {
  neutral: 'text-soft',
  accent: 'text-accent',
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
}

function Stop({ event }: { event: LifeEvent }) {
  const sign = EVENTS[event.event]
  const Icon = sign?.icon
  const told = details(event)
  return (
    <li className="group relative flex gap-3 pb-4">
      <span aria-hidden className="absolute top-5 bottom-0 left-[7.5px] w-px bg-line group-last:hidden" />
      <span aria-hidden className={`mt-0.5 size-4 shrink-0 ${sign ? INKS[sign.tone] : ''}`}>
        {Icon && <Icon size={16} />}
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{sign?.label ?? event.event}</span>
          <span className="text-xs text-soft">
            <Moment at={event.at} /> by {event.actor_name}
          </span>
        </div>
        {told.length > 0 && (
          <p className="flex flex-wrap gap-x-3 text-xs/5 text-soft [overflow-wrap:anywhere]">
            {told.map(([name, value]) => (
              <span key={name}>
                {name}: {value}
              </span>
            ))}
          </p>
        )}
      </div>
    </li>
  )
}

/** What one wants to know at a glance; the audit has the rest. */
const TOLD = { owner: 'consumer', reason: 'reason', failures: 'failed so far' }

function details({ detail }: LifeEvent): [string, string][] {
  return Object.entries(TOLD).flatMap(([name, word]): [string, string][] => {
    const value = detail[name]
    return value === null || value === undefined || value === 0 ? [] : [[word, String(value)]]
  })
}
