// What each platform has to do for a job, and how far it is.
import { Link } from 'react-router'
import { Countdown } from '@/kit/Countdown'
import { Moment } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { errorText, StatusBadge } from './signs'
import { worded } from './states'
import type { Job, Part } from './types'

const COLUMNS = {
  platform: { title: 'Platform' },
  status: { title: 'Status' },
  attempt: { title: 'Attempt', isNumber: true },
  documents: { title: 'Documents', isNumber: true, from: 'sm' },
  cost: { title: 'Cost', isNumber: true, from: 'sm' },
  deadline: { title: 'Deadline', isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

export function PartsPanel({ job }: { job: Job }) {
  return (
    <Panel title="Parts" lead="One for each platform.">
      <Table label="Parts" columns={Object.values(COLUMNS)}>
        {job.parts.map((part) => (
          <Row key={part.platform} part={part} />
        ))}
      </Table>
    </Panel>
  )
}

function Row({ part }: { part: Part }) {
  const error = part.status === 'completed' ? null : errorText(part.last_error, part.sub_status)
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.platform} className="break-words">
        <Link to={`/platforms/${part.platform}`} className="font-medium hover:underline">
          {part.platform}
        </Link>
        <div className="text-xs/5 text-soft" title="The number of the last grant.">
          fence {part.fence}
        </div>
      </Cell>
      <Cell column={COLUMNS.status}>
        <StatusBadge status={part.status} />
        <div className="text-xs/5 text-soft [overflow-wrap:anywhere]">
          {part.sub_status && worded(part.sub_status)}
          {part.sub_status && error && ' · '}
          {error}
        </div>
        {part.status === 'pending' && Date.parse(part.not_before) > Date.now() && (
          <div className="text-xs/5 text-soft">
            <Countdown until={part.not_before} before="begins in " over="may begin now" />
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.attempt} className="whitespace-nowrap">
        {part.attempt} <span className="text-soft">of {part.max_attempts}</span>
        {part.snoozes > 0 && <div className="text-xs/5 text-warn">snoozed {times(part.snoozes)}</div>}
        {part.losses > 0 && <div className="text-xs/5 text-warn">lost {times(part.losses)}</div>}
      </Cell>
      <Cell column={COLUMNS.documents}>{part.result_count.toLocaleString('en')}</Cell>
      <Cell column={COLUMNS.cost}>{money(part.cost_micros)}</Cell>
      <Cell column={COLUMNS.deadline} className="text-soft">
        <Moment at={part.deadline_at} />
        {part.ended_at && (
          <div className="text-xs/5 whitespace-nowrap">
            ended <Moment at={part.ended_at} />
          </div>
        )}
      </Cell>
    </tr>
  )
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
