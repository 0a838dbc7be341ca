// Everything that happened to a job, oldest first, and how long it was between.
import { briefly, exactly, Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Stop, Timeline } from '@/kit/Timeline'
import { errorText } from './signs'
import { EVENTS, worded } from './states'
import type { Job, JobEvent } from './types'

export function HistoryPanel({ job }: { job: Job }) {
  const isOfSeveral = job.parts.length > 1
  return (
    <Panel title="History" lead="Everything that happened to it, oldest first.">
      <Timeline label="History">
        {job.history.map((event, index) => (
          <Event
            key={`${event.at} ${event.platform} ${event.event}`}
            event={event}
            before={job.history[index - 1]}
            isOfSeveral={isOfSeveral}
          />
        ))}
      </Timeline>
    </Panel>
  )
}

type Props = { event: JobEvent; before?: JobEvent; isOfSeveral: boolean }

function Event({ event, before, isOfSeveral }: Props) {
  const sign = EVENTS[event.event]
  const waited = before ? Date.parse(event.at) - Date.parse(before.at) : 0
  return (
    <Stop
      sign={sign}
      title={sign?.label ?? worded(event.event)}
      aside={
        <>
          {isOfSeveral && `${event.platform}, `}attempt {event.attempt}
          {event.fence > 0 && `, fence ${event.fence}`}, <Moment at={event.at} />
          {waited >= 1000 && `, ${briefly(waited)} later`}
        </>
      }
    >
      {details(event)}
    </Stop>
  )
}

type Details = {
  by?: string
  owner?: string
  error?: Job['last_error']
  until?: string
  priority?: number
  before?: number
  reason?: string
}

function details({ detail, event }: JobEvent): string | null {
  const { by, owner, error, until, priority, before, reason } = detail as Details
  // What was overcome since is no news of the end.
  const fault = event === 'completed' ? null : errorText(error ?? null)
  const move = priority === undefined ? null : `from ${before} to ${priority}`
  const told = [move, until && `until ${exactly(until)}`, by && `by ${by}`, owner && `worker ${owner}`]
  return [...told, reason, fault].filter(Boolean).join(' · ') || null
}
