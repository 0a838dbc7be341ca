// The dialog for whatever one chose to do to a seed.
import { Confirm } from '@/kit/Confirm'
import { ACTS, type Act } from './actions'
import { useChangeSeed, useDeleteSeed } from './api'
import { EditSeedDialog } from './EditSeedDialog'
import type { Seed, SeedChange } from './types'

type Props = { act: Act; seed: Seed; onClose: () => void; onDeleted?: () => void }

export function SeedDialog({ act, seed, onClose, onDeleted = onClose }: Props) {
  if (act === 'edit') return <EditSeedDialog seed={seed} onClose={onClose} />
  if (act === 'delete') return <DeleteDialog seed={seed} onClose={onClose} onDone={onDeleted} />
  return <ChangeDialog act={act} seed={seed} onClose={onClose} />
}

type Changing = Exclude<Act, 'edit' | 'delete'>

const CHANGES: Record<Changing, { title: string; wish: SeedChange }> = {
  visit: { title: 'Make the seed due now', wish: { next_due_at: 'now' } },
  enable: { title: 'Enable the seed', wish: { enabled: true } },
  disable: { title: 'Disable the seed', wish: { enabled: false } },
}

function whatFollows(act: Changing, seed: Seed): string {
  if (act === 'visit')
    return 'The next who asks for a seed of its site may get it. Its interval stays as it is.'
  if (act === 'enable') return 'It is handed out again whenever it is due.'
  const held = seed.holder ? ` ${seed.holder} keeps the lease it has until that ends.` : ''
  return `Nobody gets it any more until somebody enables it.${held}`
}

function ChangeDialog({ act, seed, onClose }: { act: Changing; seed: Seed; onClose: () => void }) {
  const change = useChangeSeed(seed.id)
  const { title, wish } = CHANGES[act]
  const { label, needs } = ACTS[act]
  const confirm = () => change.mutate(wish, { onSuccess: onClose })
  return (
    <Confirm {...{ title, label, needs, change, onClose }} onConfirm={confirm}>
      <Address seed={seed} />
      <p>{whatFollows(act, seed)}</p>
    </Confirm>
  )
}

type DeleteProps = { seed: Seed; onClose: () => void; onDone: () => void }

function DeleteDialog({ seed, onClose, onDone }: DeleteProps) {
  const deletion = useDeleteSeed(seed.id)
  return (
    <Confirm
      title="Delete the seed"
      label="Delete"
      needs="seeds.manage"
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, { onSuccess: onDone })}
      onClose={onClose}
      isHard
    >
      <Address seed={seed} />
      <p>
        It is removed with its schedule and its cursor, and that cannot be undone. Captures that came from it
        and its leases in the history stay. To only leave it alone for a while, disable it.
      </p>
    </Confirm>
  )
}

function Address({ seed }: { seed: Seed }) {
  return (
    <p>
      <span className="font-medium [overflow-wrap:anywhere]">{seed.url ?? seed.original_url}</span>{' '}
      <span className="text-soft">at {seed.site}</span>
    </p>
  )
}
