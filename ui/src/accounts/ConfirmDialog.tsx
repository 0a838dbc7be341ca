// Asks once before an account is changed, and says what will follow.

import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { useRevokeLease } from '@/leases/api'
import { ACTS, type Act } from './actions'
import { useChangeAccount, useDeleteAccount } from './api'
import type { Account } from './types'

type Confirmed = Exclude<Act, 'edit' | 'reveal'>
type Props = { act: Confirmed; account: Account; onClose: () => void; onDone: () => void }

const STANDINGS = { activate: 'active', deactivate: 'inactive', block: 'blocked' } as const

function whatFollows(act: Confirmed, { standing, holder, site }: Account): string {
  const holds = holder ? ` ${holder} keeps the lease it has until that ends.` : ''
  if (act === 'activate') {
    return standing === 'blocked'
      ? 'It comes back on probation: one more bad end blocks it again.'
      : 'It can be leased again at once.'
  }
  if (act === 'deactivate') return `Nobody gets it any more until somebody activates it.${holds}`
  if (act === 'block')
    return `Nobody gets it any more until somebody activates it, and then on probation.${holds}`
  if (act === 'revoke') {
    return `${holder ?? 'Its holder'} loses it, and learns so at its next call. The account then rests for the reclaim delay of ${site}; nothing is held against it.`
  }
  return 'It is removed with its secret, and that cannot be undone. Its leases stay in the history.'
}

function useAct(act: Confirmed, account: Account) {
  const change = useChangeAccount(account.id)
  const deletion = useDeleteAccount(account.id)
  const revocation = useRevokeLease()
  const used = act === 'delete' ? deletion : act === 'revoke' ? revocation : change

  function run(reason: string, onSuccess: () => void) {
    if (act === 'delete') deletion.mutate(undefined, { onSuccess })
    else if (act !== 'revoke') change.mutate({ state: STANDINGS[act], reason: reason || null }, { onSuccess })
    else if (account.lease_id) revocation.mutate(account.lease_id, { onSuccess })
  }

  return { error: used.error, isPending: used.isPending, run }
}

export function ConfirmDialog({ act, account, onClose, onDone }: Props) {
  const [reason, setReason] = useState('')
  const { error, isPending, run } = useAct(act, account)
  const { label, needs } = ACTS[act]
  const isHard = act === 'delete' || act === 'block' || act === 'revoke'
  const title = act === 'revoke' ? `Revoke the lease on ${account.username}` : `${label} ${account.username}`
  return (
    <Confirm
      title={title}
      onClose={onClose}
      onConfirm={() => run(reason.trim(), onDone)}
      label={label}
      change={{ error, isPending }}
      needs={needs}
      isHard={isHard}
      pointers={['/reason']}
    >
      <p>
        <span className="font-medium">{account.username}</span>{' '}
        <span className="text-soft">at {account.site}</span>
      </p>
      <p>{whatFollows(act, account)}</p>
      {act === 'block' && (
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          placeholder="blocked by an operator"
          hint="Shown wherever the account is, and kept in the audit."
          fault={faultAt(error, '/reason')}
          isFirst
        />
      )}
    </Confirm>
  )
}
