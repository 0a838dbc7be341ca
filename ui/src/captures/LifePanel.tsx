// Everything that happened to a capture, oldest first; also to one that is no longer there.
import { Link } from 'react-router'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { Stop, Timeline } from '@/kit/Timeline'
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
        <Timeline label="Its life">
          {list.items.map((event) => (
            <Event key={event.id} event={event} />
          ))}
        </Timeline>
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

function Event({ event }: { event: LifeEvent }) {
  const sign = EVENTS[event.event]
  const told = details(event)
  return (
    <Stop
      sign={sign}
      title={sign?.label ?? event.event}
      aside={
        <>
          <Moment at={event.at} /> by {event.actor_name}
        </>
      }
    >
      {told.length > 0 &&
        told.map(([name, value]) => (
          <span key={name}>
            {name}: {value}
          </span>
        ))}
    </Stop>
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
