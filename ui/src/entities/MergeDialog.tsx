// Makes one of two entities: find the other, see both side by side, and only then do it.
import { useState } from 'react'
import { remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { SearchField } from '@/kit/SearchField'
import { Failure, Refused } from '@/kit/states'
import { useSettled } from '@/kit/useSettled'
import { useEntity, useMerge, useSome } from './api'
import { SideBySide } from './SideBySide'
import { counted, short } from './signs'
import type { Entity } from './types'

const MOST = 8

type Props = { entity: Entity; onClose: () => void; onMerged: (other: Entity) => void }

export function MergeDialog({ entity, onClose, onMerged }: Props) {
  const [chosen, setChosen] = useState<string | null>(null)
  const [text, setText] = useState(entity.name)
  const other = useEntity(chosen ?? '')
  const merge = useMerge()
  const found = chosen ? other.data : undefined

  function submit() {
    if (found) merge.mutate({ keep: entity.id, merge: found.id }, { onSuccess: () => onMerged(found) })
  }

  return (
    <Dialog
      title={`Merge another into ${entity.name}`}
      onClose={onClose}
      onSubmit={submit}
      isWide
      footer={
        chosen ? (
          <>
            <Button onClick={() => setChosen(null)}>Back</Button>
            <Button
              type="submit"
              look="primary"
              needs="entities.manage"
              isBusy={merge.isPending}
              objection={found ? null : 'It is still loading.'}
              className="min-w-0 !shrink"
            >
              <span className="truncate">Merge {found?.name ?? '…'} into this one</span>
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>Cancel</Button>
        )
      }
    >
      {chosen ? (
        <>
          <Refused>{remainder(merge.error, [])}</Refused>
          {other.error && (
            <Failure what="It could not be loaded." error={other.error} onRetry={other.refetch} />
          )}
          <p>
            All their records are one thing from now on, whatever their sources say later. The address of the
            other leads here. You can undo it.
          </p>
          {found ? (
            <div className="-mx-5">
              <SideBySide
                label="Both side by side"
                columns={[
                  { id: entity.id, side: entity, head: <Head entity={entity} fate="stays" /> },
                  { id: found.id, side: found, head: <Head entity={found} fate="becomes a part of it" /> },
                ]}
              />
            </div>
          ) : (
            !other.error && <div role="status" aria-label="Loading" className="skeleton h-40" />
          )}
        </>
      ) : (
        <Finder entity={entity} text={text} onText={setText} onChoose={setChosen} />
      )}
    </Dialog>
  )
}

function Head({ entity, fate }: { entity: Entity; fate: string }) {
  return (
    <>
      <div className="font-semibold">{entity.name}</div>
      <div className="text-xs/5 text-soft">
        {fate}, {counted(entity.size, 'record')} of {entity.sources.join(', ')}
      </div>
    </>
  )
}

type FinderProps = {
  entity: Entity
  text: string
  onText: (text: string) => void
  onChoose: (id: string) => void
}

function Finder({ entity, text, onText, onChoose }: FinderProps) {
  const q = useSettled(text.trim()) || undefined
  const { data, error, refetch } = useSome({ kind: entity.kind, q }, MOST + 2)
  const others = data?.filter(({ id }) => id !== entity.id)
  return (
    <>
      <SearchField label="Find the other" placeholder="Name or alias" value={text} onChange={onText} />
      {error && <Failure what="They could not be found." error={error} onRetry={refetch} />}
      <ul aria-label="Found" className="divide-y divide-line rounded-md border border-line empty:hidden">
        {q !== undefined &&
          others?.slice(0, MOST).map((other) => (
            <li key={other.id}>
              <button
                type="button"
                onClick={() => onChoose(other.id)}
                className="flex w-full flex-wrap items-baseline gap-x-3 px-3 py-2 text-left hover:bg-hover"
              >
                <span className="font-medium text-accent-strong">{other.name}</span>
                <span className="text-xs text-soft">
                  {counted(other.size, 'record')} of {other.sources.join(', ')}
                </span>
                <span className="ml-auto font-mono text-xs text-soft">{short(other.id)}</span>
              </button>
            </li>
          ))}
      </ul>
      {q !== undefined && others && others.length > MOST && (
        <p className="text-soft">There are more; type more of the name.</p>
      )}
      {(q === undefined || others?.length === 0) && (
        <p className="text-soft">
          {q === undefined
            ? 'Type a part of its name or of an alias.'
            : `No other ${entity.kind} has that in its name or an alias.`}
        </p>
      )}
    </>
  )
}
