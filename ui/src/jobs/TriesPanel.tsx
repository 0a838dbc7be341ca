// Each time a worker had the job: what it did with it, how long that took, and what it cost.
import { Badge } from '@/kit/Badge'
import { briefly, Moment, useNow } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { errorText } from './signs'
import { EVENTS, worded } from './states'
import { type Try, triesOf } from './tries'
import type { Job } from './types'

const COLUMNS = {
  attempt: { title: 'Attempt' },
  worker: { title: 'Worker', from: 'sm' },
  ended: { title: 'How it ended' },
  began: { title: 'Began', isNumber: true, from: 'lg' },
  took: { title: 'Took', isNumber: true, from: 'sm' },
  cost: { title: 'Cost', isNumber: true },
} satisfies Record<string, Column>

export function TriesPanel({ job }: { job: Job }) {
  const tries = triesOf(job)
  return (
    <Panel
      title="Attempts"
      lead="Each time a worker had it. Lost workers and snoozes do not use up an attempt."
    >
      {tries.length === 0 ? (
        <p className="px-4 py-6 text-center text-soft">No worker has had it yet.</p>
      ) : (
        <Table label="Attempts" columns={Object.values(COLUMNS)}>
          {tries.map((one) => (
            <Row key={`${one.platform} ${one.fence}`} one={one} isOfSeveral={job.parts.length > 1} />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function Row({ one, isOfSeveral }: { one: Try; isOfSeveral: boolean }) {
  const now = useNow()
  const { end } = one
  const took = (end ? Date.parse(end.at) : now) - Date.parse(one.began)
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.attempt} className="whitespace-nowrap">
        {one.attempt}
        <div className="text-xs/5 text-soft" title="The number of the grant.">
          fence {one.fence}
          {isOfSeveral && `, ${one.platform}`}
        </div>
      </Cell>
      <Cell column={COLUMNS.worker} className="[overflow-wrap:anywhere]">
        {one.worker ?? <span className="text-soft">not told</span>}
      </Cell>
      <Cell column={COLUMNS.ended}>
        <Ending one={one} />
      </Cell>
      <Cell column={COLUMNS.began} className="text-soft">
        <Moment at={one.began} />
      </Cell>
      <Cell column={COLUMNS.took} className="whitespace-nowrap">
        {took >= 0 ? briefly(took) : '0 s'}
      </Cell>
      <Cell column={COLUMNS.cost}>
        {one.micros === null ? <span className="text-soft">–</span> : money(one.micros)}
      </Cell>
    </tr>
  )
}

function Ending({ one: { end, worker } }: { one: Try }) {
  if (!end) return <Badge tone="accent">Under way</Badge>
  const sign = EVENTS[end.event]
  const error = end.event === 'completed' ? null : errorText((end.detail.error as Job['last_error']) ?? null)
  return (
    <>
      <Badge tone={sign?.tone} icon={sign?.icon}>
        {sign?.label ?? worded(end.event)}
      </Badge>
      {error && <div className="text-xs/5 text-soft [overflow-wrap:anywhere]">{error}</div>}
      {worker && <div className="text-xs/5 text-soft [overflow-wrap:anywhere] sm:hidden">{worker}</div>}
    </>
  )
}
