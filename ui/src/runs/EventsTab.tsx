// Everything that happened to a run but its checkpoints, oldest first: who, when, why, and how long it was between.

import { worded } from '@/jobs/states'
import type { Tone } from '@/kit/Badge'
import { briefly, Moment } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Failure } from '@/kit/states'
import type { useMoves } from './api'
import { EVENTS, PAUSES } from './states'
import type { RunEvent } from './types'

const INKS: Record<Tone, string> = {
  neutral: 'text-soft',
  accent: 'text-accent',
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
}

export function EventsTab({ query }: { query: ReturnType<typeof useMoves> }) {
  const { data, error, refetch, isFetching } = query
  if (error && !data) {
    return (
      <div className="p-4">
        <Failure
          what="What happened could not be loaded."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      </div>
    )
  }
  if (!data) {
    return (
      <div role="status" aria-busy="true" aria-label="Loading what happened" className="skeleton m-4 h-32" />
    )
  }
  return (
    <ol aria-label="What happened" className="flex flex-col px-4 pt-4">
      {data.map((event, index) => (
        <Stop key={event.seq} event={event} before={data[index - 1]} />
      ))}
    </ol>
  )
}

function Stop({ event, before }: { event: RunEvent; before: RunEvent | undefined }) {
  const sign = EVENTS[event.type]
  const Icon = sign?.icon
  const waited = before ? Date.parse(event.at) - Date.parse(before.at) : 0
  const why = details(event)
  return (
    <li className="group relative flex gap-3 pb-4">
      <span aria-hidden className="absolute top-5 bottom-0 left-[7.5px] w-px bg-line group-last:hidden" />
      <span aria-hidden className={`mt-0.5 size-4 shrink-0 ${sign ? INKS[sign.tone] : ''}`}>
        {Icon && <Icon size={16} />}
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{titled(event)}</span>
          <span className="text-xs text-soft">
            <Moment at={event.at} />
            {waited >= 1000 && `, ${briefly(waited)} later`}
          </span>
        </div>
        {why.length > 0 && <p className="text-xs/5 text-soft [overflow-wrap:anywhere]">{why.join(' · ')}</p>}
      </div>
    </li>
  )
}

const RESUMED: Record<string, string> = {
  provider_back: 'Resumed: the provider is back',
  server_restart: 'Resumed after a server restart',
  retried: 'Resumed for what failed',
}

function titled({ type, reason, pause_reason }: RunEvent): string {
  if (type === 'resumed' && reason && RESUMED[reason]) return RESUMED[reason]
  if (type === 'paused' && pause_reason) return `Paused: ${PAUSES[pause_reason].label}`
  return EVENTS[type]?.label ?? worded(type)
}

const dayed = (days: unknown) => (days === 1 ? 'day' : `${days} days`)

function details(event: RunEvent): string[] {
  const { by, detail, budget_cap_micros: cap, from_micros: from, estimated_cost_micros: estimated } = event
  const isTakenOver = event.reason === 'server_restart' && typeof event.in_flight === 'number'
  return [
    by && `by ${by}`,
    detail,
    estimated !== undefined && `estimated at ${money(estimated)}`,
    from !== undefined && cap !== undefined ? `from ${money(from)} to ${money(cap)}` : null,
    from === undefined && cap !== undefined && event.type === 'wanted' ? `cap ${money(cap)}` : null,
    event.type === 'budget_warning' && `${event.percent} % of ${money(cap ?? 0)} are used`,
    event.type === 'budget_overrun' &&
      `${money(Number(event.overrun_micros))} more, for ${event.calls} calls`,
    event.categories?.join(', '),
    event.skip_collected_days !== undefined &&
      `skips what was collected in the last ${dayed(event.skip_collected_days)}`,
    event.type === 'collected_skipped' &&
      `${event.items} items of ${event.category}, collected in the last ${dayed(event.days)}`,
    event.type === 'retried' &&
      `${event.items} items${event.error_code ? `: ${worded(String(event.error_code))}` : ''}`,
    event.max_in_flight !== undefined && `from ${event.before} to ${event.max_in_flight} items at once`,
    isTakenOver && `${event.in_flight} items were in hand, and go on`,
    event.type === 'paused' && event.in_flight
      ? `${event.in_flight} items in hand were finished first`
      : null,
  ].filter((text): text is string => Boolean(text))
}
