// Takes leases from their holders, after asking once.

import { Confirm } from '@/kit/Confirm'
import { type Kind, type Lease, useHoldings, useRevokeLease, useRevokeOwner } from './api'
import { KINDS } from './kinds'

type OneProps = { lease: Lease; name: string; onClose: () => void }

export function RevokeLeaseDialog({ lease, name, onClose }: OneProps) {
  const revocation = useRevokeLease()
  return (
    <Confirm
      title="Revoke lease"
      onClose={onClose}
      onConfirm={() => revocation.mutate(lease.id, { onSuccess: onClose })}
      label="Revoke lease"
      change={revocation}
      needs="leases.manage"
      isHard
    >
      <p>
        <strong className="font-semibold">{lease.owner}</strong> loses the {lease.kind}{' '}
        <strong className="font-semibold">{name}</strong>
        {lease.site && ` at ${lease.site}`}, and learns so at its next call: whatever it sends with this lease
        from now on is refused.
      </p>
    </Confirm>
  )
}

/** `8 accounts and 1 seed` */
function inWords(leases: Lease[]): string {
  const counts = new Map<Kind, number>()
  for (const { kind } of leases) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const parts = [...counts].map(([kind, n]) => `${n} ${n === 1 ? kind : KINDS[kind].plural}`)
  return new Intl.ListFormat('en').format(parts) || 'nothing any more'
}

export function RevokeOwnerDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
  const revocation = useRevokeOwner()
  const { data: holdings, error } = useHoldings(owner)
  return (
    <Confirm
      title={`Revoke all of ${owner}`}
      onClose={onClose}
      onConfirm={() => revocation.mutate(owner, { onSuccess: onClose })}
      label="Revoke everything it holds"
      change={{ error: revocation.error ?? error, isPending: revocation.isPending }}
      needs="leases.manage"
      isHard
    >
      <p>
        <strong className="font-semibold">{owner}</strong> loses everything it holds, also what the filters of
        this page hide, and learns so at its next call.
      </p>
      {holdings ? (
        <p role="status">
          Right now that is {holdings.isWhole ? '' : 'more than '}
          {inWords(holdings.items)}.
        </p>
      ) : (
        !error && <div className="skeleton h-5 w-48" />
      )}
    </Confirm>
  )
}
