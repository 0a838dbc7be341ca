// Asks once before something is done, says what will follow, and stays open with the reason when it is refused.
import type { ReactNode } from 'react'
import { remainder } from '@/api/problems'
import type { Permission } from '@/api/types'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { Refused } from './states'

type Props = {
  title: string
  /** The act itself, as the button says it. */
  label: string
  needs?: Permission
  change: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
  /** Why it cannot be done yet. */
  objection?: string | null
  /** It takes something away. */
  isHard?: boolean
  /** Faults that `children` show next to their fields. */
  pointers?: readonly string[]
  children: ReactNode
}

export function Confirm(props: Props) {
  const { title, label, change, onConfirm, onClose, isHard, pointers = [], children } = props
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onConfirm}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look={isHard ? 'danger' : 'primary'}
            needs={props.needs}
            objection={props.objection}
            isBusy={change.isPending}
          >
            {label}
          </Button>
        </>
      }
    >
      <Refused>{remainder(change.error, pointers)}</Refused>
      {children}
    </Dialog>
  )
}
