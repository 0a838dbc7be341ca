// What happened to a platform lately: pauses, its breaker, promotions; out of the audit.
import {
  ArrowRight,
  CirclePause,
  CirclePlay,
  type LucideIcon,
  SlidersHorizontal,
  Undo2,
  Unplug,
  Zap,
} from 'lucide-react'
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import type { AuditEvent } from '@/api/types'
import type { Tone } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { Stop, Timeline } from '@/kit/Timeline'
import { useRepeated } from '@/kit/useRepeated'
import { useRecent } from './api'

const EVENTS: Record<string, { label: string; tone: Tone; icon: LucideIcon }> = {
  'platform.paused': { label: 'Paused', tone: 'warn', icon: CirclePause },
  'platform.resumed': { label: 'Resumed', tone: 'good', icon: CirclePlay },
  'platform.breaker_opened': { label: 'Breaker opened', tone: 'bad', icon: Unplug },
  'platform.breaker_closed': { label: 'Breaker closed', tone: 'good', icon: Zap },
  'platform.promoted': { label: 'Moved to another phase', tone: 'accent', icon: ArrowRight },
  'platform.limits_changed': { label: 'Limits changed', tone: 'accent', icon: SlidersHorizontal },
  'platform.limits_restored': { label: 'Limits back to the file', tone: 'good', icon: Undo2 },
  'platform.limits_ended': { label: 'Limits back to the file by time', tone: 'good', icon: Undo2 },
}

export function RecentPanel({ slug }: { slug: string }) {
  const objection = useObjection('audit.view')
  const list = useRecent(slug, objection === null)
  useRepeated(list)
  if (objection) return null
  // A site or a token may have the same name.
  const events = list.items?.filter(({ action }) => action.startsWith('platform.'))
  return (
    <Panel title="Lately" lead="What was done to it, and what its breaker did by itself.">
      {list.error !== null && (
        <div className="p-4">
          <Failure
            what="What happened lately could not be loaded."
            error={list.error}
            onRetry={list.retry}
            isRetrying={list.isRefreshing}
            isOld={list.items !== undefined}
          />
        </div>
      )}
      {!events && list.error === null && (
        <div
          role="status"
          aria-busy="true"
          aria-label="Loading what happened"
          className="skeleton m-4 h-16"
        />
      )}
      {events?.length === 0 && <p className="px-4 py-6 text-center text-soft">Nothing yet.</p>}
      {events && events.length > 0 && (
        <Timeline label="Lately">
          {events.map((event) => (
            <Event key={event.id} event={event} />
          ))}
        </Timeline>
      )}
      {events && (
        <p className="border-t border-line px-4 py-2.5">
          <Link to={`/audit?subject=${encodeURIComponent(slug)}`} className="text-accent hover:underline">
            All of it in the audit
          </Link>
        </p>
      )}
    </Panel>
  )
}

function Event({ event }: { event: AuditEvent }) {
  const sign = EVENTS[event.action]
  return (
    <Stop
      sign={sign}
      title={sign?.label ?? event.action}
      aside={
        <>
          <Moment at={event.at} /> by {event.actor_name}
        </>
      }
    >
      {told(event.detail)}
    </Stop>
  )
}

function told(detail: Record<string, unknown>): string | null {
  const { reason, from, to, equal, compared, override } = detail
  const parts = [
    from !== undefined && `from ${from} to ${to}, ${equal} of ${compared} chunks the same`,
    override && `override: ${override}`,
    reason,
  ]
  return parts.filter(Boolean).join('; ') || null
}
