// Two records side by side, and what speaks for and against their being one.
import { SideBySide } from '@/entities/SideBySide'
import { EntityLink } from '@/entities/signs'
import type { SourceRecord } from '@/entities/types'
import { Waterfall } from '@/entities/Waterfall'
import { inBits } from '@/entities/waterfall'
import { Badge } from '@/kit/Badge'
import { Panel } from '@/kit/Panel'
import type { Question } from './types'

export function Pair({ question }: { question: Question }) {
  const { a, b, evidence, join } = question
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <Panel title="Are these one?" lead="Fields that differ are marked.">
        <SideBySide
          label="Both side by side"
          columns={[a, b].map((record) => ({ id: record.id, side: record, head: <Head record={record} /> }))}
        />
      </Panel>
      <Panel
        title="Evidence"
        lead={`${inBits(evidence.score)}; ${inBits(join)} would join them.`}
        action={
          <span className="flex flex-wrap gap-1 pr-2">
            {evidence.conflicts.map((conflict) => (
              <Badge key={conflict} tone="bad">
                {conflict}
              </Badge>
            ))}
          </span>
        }
      >
        <div className="py-3">
          <Waterfall tie={evidence} join={join} />
        </div>
      </Panel>
    </div>
  )
}

function Head({ record }: { record: SourceRecord }) {
  return (
    <div className="[overflow-wrap:anywhere]">
      <div className="font-semibold">{record.source}</div>
      <div className="font-mono text-xs/5 text-soft">{record.source_id}</div>
      <div className="text-xs/5">
        in <EntityLink id={record.entity_id} />
      </div>
    </div>
  )
}
