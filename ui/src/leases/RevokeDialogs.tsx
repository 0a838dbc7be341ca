// Takes leases from their holders, after asking once.
import { remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Refused } from '@/kit/states'
import { type Kind, type Lease, useHoldings, useRevokeLease, useRevokeOwner } from './api'
import { KINDS } from './kinds'

type OneProps = { lease: Lease; name: string; onClose: () => void }

export function RevokeLeaseDialog({ lease, name, onClose }: OneProps) {
  const revocation = useRevokeLease()
  return (
    <Dialog
      title="Revoke lease"
      onClose={onClose}
      onSubmit={() => revocation.mutate(lease.id, { onSuccess: onClose })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" needs="leases.manage" isBusy={revocation.isPending}>
            Revoke lease
          </Button>
        </>
      }
    >
      <Refused>{remainder(revocation.error, [])}</Refused>
      <p>
        <strong className="font-semibold">{lease.owner}</strong> loses the {lease.kind}{' '}
        <strong className="font-semibold">{name}</strong>
        {lease.site && ` at ${lease.site}`}, and learns so at its next call: whatever it sends with this lease
        from now on is refused.
      </p>
    </Dialog>
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
    <Dialog
      title={`Revoke all of ${owner}`}
      onClose={onClose}
      onSubmit={() => revocation.mutate(owner, { onSuccess: onClose })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" needs="leases.manage" isBusy={revocation.isPending}>
            Revoke everything it holds
          </Button>
        </>
      }
    >
      <Refused>{remainder(revocation.error ?? error, [])}</Refused>
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
    </Dialog>
  )
}
