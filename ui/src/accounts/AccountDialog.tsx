// The dialog for whatever one chose to do to an account.
import type { Act } from './actions'
import { ConfirmDialog } from './ConfirmDialog'
import { EditAccountDialog } from './EditAccountDialog'
import { RevealDialog } from './RevealDialog'
import type { Account } from './types'

type Props = { act: Act; account: Account; onClose: () => void; onDeleted?: () => void }

export function AccountDialog({ act, account, onClose, onDeleted = onClose }: Props) {
  if (act === 'edit') return <EditAccountDialog account={account} onClose={onClose} />
  if (act === 'reveal') return <RevealDialog account={account} onClose={onClose} />
  return (
    <ConfirmDialog
      act={act}
      account={account}
      onClose={onClose}
      onDone={act === 'delete' ? onDeleted : onClose}
    />
  )
}
