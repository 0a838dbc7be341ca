// One event in full: what it says about the change, and what to quote when asking about it.
import { Link } from 'react-router'
import type { AuditEvent } from '@/api/types'
import { exactly } from '@/kit/Moment'

/** Where the subject of an event can be looked at, if it has a page. */
export function subjectLink(event: AuditEvent): string | null {
  const isSite = event.action.startsWith('site.') && event.action !== 'site.deleted'
  return isSite ? `/sites/${encodeURIComponent(event.subject)}` : null
}

function inWords(value: unknown): string {
  if (value === null) return 'none'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length > 0 ? value.map(inWords).join(', ') : 'none'
  if (isChange(value)) return `${inWords(value.from)} → ${inWords(value.to)}`
  return JSON.stringify(value)
}

function isChange(value: unknown): value is { from: unknown; to: unknown } {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value
}

/** Details with objects opened, so that each line is a name and a value: `policy.cooldown_seconds`. */
function lines(detail: Record<string, unknown>, before = ''): [string, string][] {
  return Object.entries(detail).flatMap(([name, value]): [string, string][] => {
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && !isChange(value)
    return isNested
      ? lines(value as Record<string, unknown>, `${before}${name}.`)
      : [[before + name, inWords(value)]]
  })
}

export function EventDetail({ event, link }: { event: AuditEvent; link: string | null }) {
  const told: [string, string][] = [
    ...lines(event.detail),
    ['at', exactly(event.at)],
    ['actor', event.actor ? `${event.actor_name} (${event.actor})` : event.actor_name],
    ['request', event.request_id ?? 'none'],
    ['event', event.id],
  ]
  return (
    <>
      <dl className="grid gap-x-6 gap-y-1 sm:grid-cols-[minmax(6.5rem,max-content)_minmax(0,1fr)]">
        {told.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-xs/5 text-soft">{name}</dt>
            <dd className="mb-1 font-mono text-xs/5 break-words [overflow-wrap:anywhere] sm:mb-0">{value}</dd>
          </div>
        ))}
      </dl>
      {link && (
        <p className="mt-2">
          <Link to={link} className="text-accent hover:underline">
            Go to {event.subject}
          </Link>
        </p>
      )}
    </>
  )
}
