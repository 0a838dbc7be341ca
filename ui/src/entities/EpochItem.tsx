// One set of weights: where it stands, what changes with it, and the button that puts it into force.
import { CircleCheck, CircleDashed, History, Loader, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { Badge, type Tone } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Disclosure } from '@/kit/Field'
import { Moment } from '@/kit/Moment'
import { useForce } from './api'
import { counted, EntityLink } from './signs'
import type { Difference, Epoch } from './types'

const STATES: Record<string, { label: string; tone: Tone; icon: LucideIcon }> = {
  current: { label: 'In force', tone: 'good', icon: CircleCheck },
  proposed: { label: 'Proposed', tone: 'accent', icon: CircleDashed },
  moving: { label: 'Coming into force', tone: 'warn', icon: Loader },
  past: { label: 'Past', tone: 'neutral', icon: History },
}

type Props = {
  epoch: Epoch
  /** Some weights of this kind are coming into force. */
  isMoving: boolean
  /** They are those in force. */
  isSame: boolean
}

export function EpochItem({ epoch, isMoving, isSame }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const sign = STATES[epoch.state]
  const canMove = epoch.state === 'proposed' || epoch.state === 'past'
  return (
    <article aria-label={`Epoch ${epoch.number}`} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="font-semibold">Epoch {epoch.number}</h3>
        <Badge tone={sign?.tone} icon={sign?.icon}>
          {sign?.label ?? epoch.state}
        </Badge>
        <span className="text-xs text-soft">
          {epoch.origin}
          {epoch.records > 0 && ` with ${counted(epoch.records, 'record')}`},{' '}
          {epoch.current_at ? 'put into force ' : 'made '}
          <Moment at={epoch.current_at ?? epoch.created_at} />
        </span>
        <span className="font-mono text-2xs text-soft" title={`Version ${epoch.version}`}>
          {epoch.version.slice(0, 10)}
        </span>
        {canMove && (
          <span className="ml-auto">
            <Button
              look={epoch.state === 'proposed' && !isSame ? 'primary' : 'plain'}
              needs="entities.manage"
              objection={isMoving ? 'Others are coming into force just now.' : null}
              onClick={() => setIsOpen(true)}
            >
              {epoch.state === 'proposed' ? 'Put into force' : 'Go back to these'}
            </Button>
          </span>
        )}
      </div>
      {epoch.state === 'proposed' && isSame && (
        <p className="text-soft">
          These are the very weights in force: the records there are teach nothing else yet.
        </p>
      )}
      {epoch.progress !== null && <Progress share={epoch.progress} />}
      {epoch.difference && epoch.state !== 'past' && (
        <Change difference={epoch.difference} names={epoch.names} isDone={epoch.state === 'current'} />
      )}
      {isOpen && <ForceDialog epoch={epoch} onClose={() => setIsOpen(false)} />}
    </article>
  )
}

function Progress({ share }: { share: number }) {
  const percent = Math.round(100 * share)
  return (
    <div className="flex items-center gap-3">
      <div
        role="progressbar"
        aria-label="Compared anew"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-2 max-w-96 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div className="h-full bg-accent transition-[width] duration-500" style={{ width: `${percent}%` }} />
      </div>
      <span className="text-xs text-soft">{percent} % compared anew</span>
    </div>
  )
}

type ChangeProps = { difference: Difference; names: Record<string, string>; isDone: boolean }

function Change({ difference, names, isDone }: ChangeProps) {
  const { entities_before: before, entities_after: after, pairs_joined, pairs_parted, examples } = difference
  return (
    <>
      <dl className="grid grid-cols-[repeat(3,auto)] gap-x-6 gap-y-1 sm:justify-start">
        <Figure term={isDone ? 'Entities, when proposed' : 'Entities'}>
          {before.toLocaleString('en')} <span className="text-soft">→</span> {after.toLocaleString('en')}
        </Figure>
        <Figure term="Pairs joined">
          <span className={pairs_joined > 0 ? 'text-good' : 'text-soft'}>
            {pairs_joined > 0 && '+'}
            {pairs_joined.toLocaleString('en')}
          </span>
        </Figure>
        <Figure term="Pairs parted">
          <span className={pairs_parted > 0 ? 'text-bad' : 'text-soft'}>
            {pairs_parted > 0 && '−'}
            {pairs_parted.toLocaleString('en')}
          </span>
        </Figure>
      </dl>
      {examples.length > 0 && (
        <Disclosure
          summary={`${counted(examples.length, 'example')} of what ${isDone ? 'changed' : 'would change'}`}
        >
          <ul className="flex flex-col gap-1">
            {examples.map(({ change, entities }) => (
              <li key={entities.join(' ')} className="flex flex-wrap items-center gap-x-2">
                <span className="w-12 text-soft">{change}</span>
                {entities.map((id) => (
                  <EntityLink key={id} id={id} name={names[id]} />
                ))}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  )
}

function Figure({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-soft">{term}</dt>
      <dd className="font-medium whitespace-nowrap">{children}</dd>
    </div>
  )
}

function ForceDialog({ epoch, onClose }: { epoch: Epoch; onClose: () => void }) {
  const force = useForce(epoch)
  const change = epoch.difference
  return (
    <Confirm
      title={`Put epoch ${epoch.number} of ${epoch.kind} into force`}
      label="Put into force"
      needs="entities.manage"
      change={force}
      onConfirm={() => force.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {change && (
        <p>
          When it was proposed it joined {counted(change.pairs_joined, 'pair')} and parted{' '}
          {counted(change.pairs_parted, 'pair')}: {change.entities_before.toLocaleString('en')} entities
          become {change.entities_after.toLocaleString('en')}.
        </p>
      )}
      <p>
        The writer compares every record of this kind anew beside what is in force, then switches at once.
        What people said stays. You can go back to the weights before.
      </p>
    </Confirm>
  )
}
