// Why each record is here: by which step, with which score, and what that is the sum of.
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/kit/Button'
import type { useEvidence } from './api'
import { counted, RecordName, Score, StepBadge } from './signs'
import { TabBody } from './TabBody'
import type { Belonging, Evidence } from './types'
import { Waterfall } from './Waterfall'

const AT_ONCE = 20

type Query = ReturnType<typeof useEvidence>

export function EvidenceTab({ query }: { query: Query }) {
  const [most, setMost] = useState(AT_ONCE)
  return (
    <TabBody what="The evidence" query={query}>
      {(evidence) => (
        <ul aria-label="Evidence" className="divide-y divide-line">
          {evidence.records.slice(0, most).map((record, index) => (
            <li key={record.record_id}>
              <Reason record={record} evidence={evidence} isOpen={index === 0} />
            </li>
          ))}
          {evidence.records.length > most && (
            <li className="px-4 py-2">
              <Button onClick={() => setMost(most + AT_ONCE)}>
                Show more of {counted(evidence.records.length, 'record')}
              </Button>
            </li>
          )}
        </ul>
      )}
    </TabBody>
  )
}

type Props = { record: Belonging; evidence: Evidence; isOpen: boolean }

function Reason({ record, evidence, isOpen }: Props) {
  const { best, ties } = record
  const head = (
    <>
      <RecordName record={record} />
      <span className="ml-auto flex shrink-0 items-center gap-3">
        <StepBadge step={record.step} />
        <Score bits={record.score} join={evidence.join} />
      </span>
    </>
  )
  if (!best) {
    return (
      <div className="px-4 py-2.5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">{head}</div>
        <p className="text-xs/5 text-soft">
          {evidence.records.length > 1
            ? 'Nothing it says ties it to the others; somebody put it here.'
            : 'No other record is known to be the same, so it is an entity of its own.'}
        </p>
      </div>
    )
  }
  const other = evidence.records.find(
    ({ record_id }) => record_id === (best.a === record.record_id ? best.b : best.a),
  )
  return (
    <details open={isOpen} className="group">
      <summary className="flex list-none flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 hover:bg-hover">
        <ChevronRight aria-hidden size={14} className="shrink-0 transition-transform group-open:rotate-90" />
        {head}
      </summary>
      <div className="pb-3">
        <p className="px-4 pb-2 text-xs/5 text-soft [overflow-wrap:anywhere]">
          Its best tie is to {other ? `${other.source} ${other.source_id}` : 'another record'}
          {ties > 1 && `, one of ${ties}`}.{' '}
          {best.conflicts.length > 0 && <>Against it: {best.conflicts.join(', ')}. </>}
          Weighed in epoch {best.epoch}.
        </p>
        <Waterfall
          tie={best}
          join={evidence.join}
          label={`Evidence for ${record.source} ${record.source_id}`}
        />
      </div>
    </details>
  )
}
