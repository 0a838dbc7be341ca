// The records of an entity side by side; some of them can be ticked and split off.
import { Split } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Panel } from '@/kit/Panel'
import { useUrlText } from '@/kit/useUrlText'
import { SideBySide } from './SideBySide'
import { SplitDialog } from './SplitDialog'
import { counted, StepBadge } from './signs'
import type { Entity, SourceRecord } from './types'
import type { Done } from './UndoBanner'

const AT_ONCE = 12

type Props = { entity: Entity; onSplit: (done: Done) => void }

export function RecordsPanel({ entity, onSplit }: Props) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [most, setMost] = useState(AT_ONCE)
  const [only, setOnly] = useUrlText('differences')
  const [isOpen, setIsOpen] = useState(false)
  // One that has left meanwhile is ticked no more.
  const chosen = entity.records.filter((record) => ticked.has(record.id))
  const isAlone = entity.records.length < 2

  function tick(id: string) {
    const after = new Set(ticked)
    if (!after.delete(id)) after.add(id)
    setTicked(after)
  }

  return (
    <Panel
      title="Records"
      lead={isAlone ? 'What its one source says.' : 'What each source says; fields that differ are marked.'}
      action={
        !isAlone && (
          <Button
            icon={Split}
            needs="entities.manage"
            objection={objectionTo(chosen, entity)}
            onClick={() => setIsOpen(true)}
          >
            {chosen.length > 0 ? `Split off ${counted(chosen.length, 'record')}` : 'Split off'}
          </Button>
        )
      }
    >
      {!isAlone && (
        <label className="flex items-center gap-2 border-b border-line px-4 py-2 text-xs">
          <input
            type="checkbox"
            checked={only !== ''}
            onChange={() => setOnly(only ? '' : 'only')}
            className="size-4 accent-accent"
          />
          Only what differs
        </label>
      )}
      <SideBySide
        label="Records side by side"
        onlyDifferences={only !== '' && !isAlone}
        columns={entity.records.slice(0, most).map((record) => ({
          id: record.id,
          side: record,
          head: (
            <Head
              record={record}
              isTicked={ticked.has(record.id)}
              onTick={isAlone ? undefined : () => tick(record.id)}
            />
          ),
        }))}
      />
      {entity.records.length > most && (
        <div className="border-t border-line px-4 py-2">
          <Button onClick={() => setMost(most + AT_ONCE)}>
            Show more of {counted(entity.records.length, 'record')}
          </Button>
        </div>
      )}
      {isOpen && (
        <SplitDialog
          entity={entity}
          records={chosen}
          onClose={() => setIsOpen(false)}
          onSplit={(others) => {
            setIsOpen(false)
            setTicked(new Set())
            onSplit({ act: 'split', others, records: chosen.length })
          }}
        />
      )}
    </Panel>
  )
}

function objectionTo(chosen: SourceRecord[], entity: Entity): string | null {
  if (chosen.length === 0) return 'Tick the records that do not belong here.'
  return chosen.length === entity.records.length ? 'At least one has to stay.' : null
}

type HeadProps = { record: SourceRecord; isTicked: boolean; onTick?: () => void }

function Head({ record, isTicked, onTick }: HeadProps) {
  const name = `${record.source} ${record.source_id}`
  return (
    <div className="flex gap-2">
      {onTick && (
        <input
          type="checkbox"
          aria-label={`Choose ${name}`}
          checked={isTicked}
          onChange={onTick}
          className="mt-0.5 size-4 shrink-0 accent-accent"
        />
      )}
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <div className="font-semibold">{record.source}</div>
        <div className="font-mono text-xs/5 text-soft">{record.source_id}</div>
        <div className="mt-1 flex flex-wrap gap-1">
          <StepBadge step={record.step} />
          {record.state !== 'live' && <Badge tone="warn">{record.state}</Badge>}
        </div>
      </div>
    </div>
  )
}
