// Changes an account's labels and priority, and replaces its secret where a new one is given.
import { useState } from 'react'
import { faultAt, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Disclosure, TextField } from '@/kit/Field'
import { newPair, Pairs, pairsFault, recordOf } from '@/kit/Pairs'
import { Refused } from '@/kit/states'
import { typedNumber } from '@/kit/typedNumber'
import { useChangeAccount } from './api'
import type { Account, AccountChange } from './types'

const POINTERS = ['/secret', '/labels', '/priority']

export function EditAccountDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  // Only what differs from what stood here at the start is sent: what others change meanwhile stays.
  const [before] = useState(account)
  const [labels, setLabels] = useState(() =>
    Object.entries(before.labels).map(([name, value]) => newPair(name, value)),
  )
  const [priority, setPriority] = useState(String(before.priority))
  const [secret, setSecret] = useState(() => [newPair('password')])
  const change = useChangeAccount(account.id)
  const { error } = change
  const isHalf = pairsFault(labels) ?? pairsFault(secret)

  function submit() {
    if (isHalf) return
    const wish: AccountChange = {}
    const after = recordOf(labels)
    if (JSON.stringify(after) !== JSON.stringify(before.labels)) wish.labels = after
    if (priority.trim() !== String(before.priority)) wish.priority = typedNumber(priority) ?? 0
    const isGiven = secret.some((part) => part.value !== '')
    if (isGiven) wish.secret = recordOf(secret)
    change.mutate(wish, { onSuccess: onClose })
  }

  return (
    <Dialog
      title={`Edit ${account.username}`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="accounts.manage"
            isBusy={change.isPending}
            objection={isHalf}
          >
            Save changes
          </Button>
        </>
      }
    >
      <Refused>{remainder(error, POINTERS)}</Refused>
      <TextField
        label="Priority"
        value={priority}
        onChange={setPriority}
        inputMode="numeric"
        hint="0 to 1000; higher is given out first."
        fault={faultAt(error, '/priority')}
        isFirst
      />
      <Pairs
        legend="Labels"
        noun="Label"
        pairs={labels}
        onChange={setLabels}
        fault={faultAt(error, '/labels')}
      />
      <Disclosure summary="Replace the secret" isOpen={faultAt(error, '/secret') !== undefined}>
        <Pairs
          legend="New secret"
          noun="Secret"
          pairs={secret}
          onChange={setSecret}
          isSecret
          hint="All of it: parts that are not here are gone. Left empty, the secret stays as it is."
          fault={faultAt(error, '/secret')}
        />
      </Disclosure>
    </Dialog>
  )
}
