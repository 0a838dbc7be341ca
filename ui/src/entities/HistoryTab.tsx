// What became of an entity, as the change feed tells it.
import { Eraser, type LucideIcon, Merge, Pencil, Sparkle, Split } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Tone } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Failure } from '@/kit/states'
import { Stop, Timeline } from '@/kit/Timeline'
import { useHistory } from './api'
import { counted, EntityLink } from './signs'
import type { Change } from './types'

const SIGNS: Record<string, { icon: LucideIcon; tone: Tone; label: string }> = {
  created: { icon: Sparkle, tone: 'good', label: 'Created' },
  updated: { icon: Pencil, tone: 'accent', label: 'Changed' },
  merged: { icon: Merge, tone: 'warn', label: 'Merged into another' },
  split: { icon: Split, tone: 'warn', label: 'Split' },
  erased: { icon: Eraser, tone: 'bad', label: 'Erased' },
}

export function HistoryTab({ id }: { id: string }) {
  const list = useHistory(id)
  return (
    <>
      {list.error !== null && (
        <div className="p-4">
          <Failure what="The history could not be loaded." error={list.error} onRetry={list.retry} />
        </div>
      )}
      <Timeline label="History">
        {list.items?.map((change) => (
          <Stop
            key={change.seq}
            sign={SIGNS[change.change]}
            title={SIGNS[change.change]?.label ?? change.change}
            aside={
              <>
                by {change.actor === 'writer' ? 'the writer' : change.actor}, <Moment at={change.at} />
              </>
            }
          >
            {told(change)}
          </Stop>
        ))}
      </Timeline>
      {list.hasMore && (
        <div className="px-4 pb-4">
          <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
            Load more
          </Button>
        </div>
      )}
    </>
  )
}

/** Beyond so many the feed says how many records instead of which. */
type Records = string[] | number | undefined

const count = (records: Records) => (Array.isArray(records) ? records.length : (records ?? 0))

function told({ details }: Change): ReactNode {
  const { records, added, changed, from, into } = details as Record<string, unknown> & {
    records?: Records
    added?: Records
    changed?: Records
  }
  const facts = [
    records !== undefined && counted(count(records), 'record'),
    count(added) > 0 && `${counted(count(added), 'record')} came`,
    count(changed) > 0 && `${counted(count(changed), 'record')} changed`,
  ].filter(Boolean)
  const links = (word: string, ids: unknown) =>
    [ids].flat().map((id) => (
      <span key={String(id)}>
        {word} <EntityLink id={String(id)} />
      </span>
    ))
  return (
    <>
      {facts.length > 0 && <span>{facts.join(', ')}</span>}
      {from !== undefined && links('from', from)}
      {into !== undefined && links('into', into)}
    </>
  )
}
