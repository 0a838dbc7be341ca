// Erases an entity for good, once its name was typed.
import { useState } from 'react'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { useErase } from './api'
import { counted } from './signs'
import type { Entity, Receipt } from './types'

/** A longer name is no easier to be sure of. */
const LONGEST = 40

type Props = { entity: Entity; onClose: () => void; onErased: (receipt: Receipt) => void }

export function EraseDialog({ entity, onClose, onErased }: Props) {
  const [typed, setTyped] = useState('')
  const erasure = useErase(entity.id)
  const word = entity.name.length > LONGEST ? 'erase' : entity.name
  const isSure = typed.trim().toLowerCase() === word.trim().toLowerCase()
  return (
    <Confirm
      title={`Erase ${entity.name}`}
      label="Erase for good"
      needs="entities.manage"
      change={erasure}
      onConfirm={() => isSure && erasure.mutate(undefined, { onSuccess: onErased })}
      onClose={onClose}
      objection={isSure ? null : `Type ${word} first.`}
      isHard
    >
      <p>
        Its {counted(entity.size, 'record')}, all evidence about them, images and embeddings are deleted, and
        taken out of the database's files. Marks nobody can read are left, so that the next sweep does not
        bring it back. <strong className="font-semibold">This cannot be undone.</strong>
      </p>
      <TextField label={`Type ${word} to confirm`} value={typed} onChange={setTyped} isFirst />
    </Confirm>
  )
}
