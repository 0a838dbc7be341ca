// Takes records out of an entity, after saying what that means.
import { Confirm } from '@/kit/Confirm'
import { useSplit } from './api'
import { counted, RecordName } from './signs'
import type { Entity, SourceRecord } from './types'

const MOST_NAMED = 10

type Props = {
  entity: Entity
  records: SourceRecord[]
  onClose: () => void
  onSplit: (others: Entity[]) => void
}

export function SplitDialog({ entity, records, onClose, onSplit }: Props) {
  const split = useSplit(entity.id)
  const left = entity.records.length - records.length
  return (
    <Confirm
      title={`Split ${entity.name}`}
      label={`Split off ${counted(records.length, 'record')}`}
      needs="entities.manage"
      change={split}
      onConfirm={() =>
        split.mutate(
          records.map(({ id }) => id),
          { onSuccess: ({ items }) => onSplit(items.filter(({ id }) => id !== entity.id)) },
        )
      }
      onClose={onClose}
    >
      <ul className="flex flex-col gap-1">
        {records.slice(0, MOST_NAMED).map((record) => (
          <li key={record.id}>
            <RecordName record={record} />
          </li>
        ))}
        {records.length > MOST_NAMED && <li className="text-soft">and {records.length - MOST_NAMED} more</li>}
      </ul>
      <p>
        They and the {counted(left, 'record')} that {left === 1 ? 'stays' : 'stay'} are{' '}
        <strong className="font-semibold">never linked again</strong>, whatever their sources say later,
        unless somebody merges them. You can undo it.
      </p>
    </Confirm>
  )
}
