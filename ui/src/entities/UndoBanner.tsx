// What was just done to an entity, and the way to take it back.
import { CircleCheck, Undo2 } from 'lucide-react'
import { sentence } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Explanation } from '@/kit/Explanation'
import { Refused } from '@/kit/states'
import { useGraphChange } from './api'
import { counted, EntityLink } from './signs'
import type { Entity } from './types'
import { takeBack } from './undoing'

export type Done =
  | { act: 'merged'; other: Entity }
  | { act: 'split'; others: Entity[]; records: number }
  | { act: 'undone'; words: string; others: Entity[] }

type Props = { entity: Entity; done: Done; onDone: (done: Done) => void }

export function UndoBanner({ entity, done, onDone }: Props) {
  const undo = useGraphChange((what: Done) => takeBack(entity.id, what))
  return (
    <div role="status" className="flex flex-col gap-2">
      <Explanation
        tone="good"
        icon={CircleCheck}
        also={alsoOf(done)}
        action={
          done.act !== 'undone' && (
            <Button
              icon={Undo2}
              needs="entities.manage"
              isBusy={undo.isPending}
              onClick={() => undo.mutate(done, { onSuccess: onDone })}
            >
              Undo
            </Button>
          )
        }
      >
        {wordsOf(done)} {done.act !== 'merged' && <Others others={done.others} />}
      </Explanation>
      <Refused>{undo.error && sentence(undo.error)}</Refused>
    </div>
  )
}

function wordsOf(done: Done): string {
  if (done.act === 'merged') return `${done.other.name} is a part of this entity now.`
  if (done.act === 'undone') return done.words
  return `${counted(done.records, 'record')} ${done.records === 1 ? 'was' : 'were'} split off:`
}

function alsoOf(done: Done): string | null {
  if (done.act === 'merged')
    return `Its ${counted(done.other.size, 'record')} came along, and its address leads here.`
  return done.act === 'split'
    ? 'They are never linked with the rest again, unless somebody merges them.'
    : null
}

function Others({ others }: { others: Entity[] }) {
  return others.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      <EntityLink id={id} name={name} />
    </span>
  ))
}
