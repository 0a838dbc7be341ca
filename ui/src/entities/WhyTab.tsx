// Why two records are one, or why not: in a sentence, and part by part.
import { HelpCircle } from 'lucide-react'
import { Select, TextField } from '@/kit/Field'
import { useUrlText } from '@/kit/useUrlText'
import { useWhy } from './api'
import { counted, RecordName, Score } from './signs'
import { TabBody } from './TabBody'
import type { Entity, Why } from './types'
import { Waterfall } from './Waterfall'

const OTHER = 'other'

export function WhyTab({ entity }: { entity: Entity }) {
  const [a, setA] = useUrlText('a')
  const [b, setB] = useUrlText('b')
  const own = Object.fromEntries(
    entity.records.map((record) => [record.id, `${record.source} ${record.source_id} – ${record.name}`]),
  )
  const isStranger = b !== '' && !(b in own)
  const left = a in own ? a : (entity.records[0]?.id ?? '')
  const right = b === OTHER ? '' : b || (entity.records.find(({ id }) => id !== left)?.id ?? '')
  const why = useWhy(left, right.trim())
  return (
    <>
      <div className="grid gap-3 border-b border-line px-4 py-3 sm:grid-cols-2">
        <Select label="One record" value={left} onChange={setA} options={own} />
        <Select
          label="Another"
          value={isStranger || !right ? OTHER : right}
          onChange={setB}
          options={{ ...own, [OTHER]: 'A record of another entity…' }}
        />
        {(isStranger || !right) && (
          <TextField
            label="Its id"
            className="sm:col-start-2"
            value={right}
            onChange={(id) => setB(id || OTHER)}
            placeholder="rec_…"
            isMono
          />
        )}
      </div>
      {left === right.trim() || right === '' ? (
        <p className="px-4 py-8 text-center text-soft">
          Choose two records; those of another entity have their ids on its page.
        </p>
      ) : (
        <TabBody what="The comparison" query={why}>
          {(found) => <Answer why={found} />}
        </TabBody>
      )}
    </>
  )
}

function Answer({ why }: { why: Why }) {
  return (
    <div className="py-3">
      <p className="flex gap-2 px-4 pb-1 text-base font-medium">
        <HelpCircle aria-hidden size={18} className="mt-0.5 shrink-0 text-accent" />
        {why.sentence}
      </p>
      {why.evidence.conflicts.length > 0 && (
        <p className="px-4 pb-1 text-bad">Against it: {why.evidence.conflicts.join(', ')}.</p>
      )}
      {why.path.length > 1 && <Path why={why} />}
      <div className="pt-2">
        <Waterfall tie={why.evidence} join={why.join} label="Evidence between the two" />
      </div>
    </div>
  )
}

function Path({ why }: { why: Why }) {
  return (
    <div className="px-4 py-2">
      <h3 className="text-xs font-medium text-soft">Over {counted(why.path.length, 'step')}</h3>
      <ol aria-label="Path" className="list-inside list-decimal">
        {why.path.map((tie) => (
          <li key={`${tie.a} ${tie.b}`}>
            {tie.parts
              .filter(({ bits }) => bits > 0)
              .map(({ field }) => field)
              .join(', ')}{' '}
            <Score bits={tie.score} join={why.join} />
          </li>
        ))}
      </ol>
      <p className="text-xs text-soft">
        From <RecordName record={why.a} /> to <RecordName record={why.b} />
      </p>
    </div>
  )
}
