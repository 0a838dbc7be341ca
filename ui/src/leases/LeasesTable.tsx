// What is held, grouped by who holds it.
import { Unplug } from 'lucide-react'
import { Link } from 'react-router'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Lease } from './api'
import { KINDS } from './kinds'
import { TimeLeft } from './TimeLeft'

const COLUMNS = {
  resource: { title: 'Resource' },
  kind: { title: 'Kind', from: 'lg' },
  site: { title: 'Site', from: 'sm' },
  left: { title: 'Time left' },
  acquired: { title: 'Acquired', isNumber: true, from: 'sm' },
  fence: { title: 'Fence', isNumber: true, from: 'lg' },
  job: { title: 'Job', from: 'xl' },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

type Props = {
  leases: Lease[] | undefined
  nameOf: (lease: Lease) => string
  onOwner: (owner: string) => void
  onRevoke: (lease: Lease) => void
  onRevokeOwner: (owner: string) => void
}

/** Owners in the order of their oldest lease here. */
function byOwner(leases: Lease[]): [string, Lease[]][] {
  const groups = new Map<string, Lease[]>()
  for (const lease of leases) groups.set(lease.owner, [...(groups.get(lease.owner) ?? []), lease])
  return [...groups]
}

export function LeasesTable({ leases, nameOf, onOwner, onRevoke, onRevokeOwner }: Props) {
  return (
    <Table label="Leases" columns={Object.values(COLUMNS)} isLoading={!leases} isGrouped>
      {leases &&
        byOwner(leases).map(([owner, held]) => (
          <tbody key={owner} aria-label={`Held by ${owner}`}>
            <OwnerRow
              owner={owner}
              count={held.length}
              onOwner={() => onOwner(owner)}
              onRevoke={() => onRevokeOwner(owner)}
            />
            {held.map((lease) => (
              <Row key={lease.id} lease={lease} name={nameOf(lease)} onRevoke={() => onRevoke(lease)} />
            ))}
          </tbody>
        ))}
    </Table>
  )
}

type OwnerProps = { owner: string; count: number; onOwner: () => void; onRevoke: () => void }

function OwnerRow({ owner, count, onOwner, onRevoke }: OwnerProps) {
  return (
    <tr className="border-t border-line bg-sunken">
      <th
        scope="rowgroup"
        colSpan={Object.keys(COLUMNS).length}
        className="px-4 py-1.5 text-left font-normal"
      >
        <div className="flex items-center justify-between gap-4">
          <div className="flex min-w-0 items-baseline gap-2">
            <button
              type="button"
              title={`Only ${owner}`}
              onClick={onOwner}
              className="min-w-0 text-left font-semibold [overflow-wrap:anywhere] hover:underline"
            >
              {owner}
            </button>
            <span className="text-xs whitespace-nowrap text-soft">
              {count === 1 ? 'one lease' : `${count} leases`}
            </span>
          </div>
          <Button
            look="quiet"
            className="-mr-3"
            needs="leases.manage"
            onClick={onRevoke}
            aria-label={`Revoke all of ${owner}`}
          >
            Revoke all
          </Button>
        </div>
      </th>
    </tr>
  )
}

function Row({ lease, name, onRevoke }: { lease: Lease; name: string; onRevoke: () => void }) {
  const { label, icon: Icon, path } = KINDS[lease.kind]
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.resource} className="[overflow-wrap:anywhere]">
        {path ? (
          <Link
            to={`/${path}/${lease.resource_id}`}
            title={lease.resource_id}
            className="font-medium text-accent-strong hover:underline"
          >
            {name}
          </Link>
        ) : (
          <span title={lease.resource_id} className="font-mono text-xs/5">
            {name}
          </span>
        )}
        <div className="text-xs text-soft sm:hidden">
          {label}
          {lease.site && ` at ${lease.site}`}
        </div>
      </Cell>
      <Cell column={COLUMNS.kind}>
        <span className="inline-flex items-center gap-1.5 text-soft">
          <Icon aria-hidden size={14} />
          {label}
        </span>
      </Cell>
      <Cell column={COLUMNS.site}>
        {lease.site ? (
          <Link to={`/sites/${lease.site}`} className="hover:underline">
            {lease.site}
          </Link>
        ) : (
          <span className="text-soft">none</span>
        )}
      </Cell>
      <Cell column={COLUMNS.left} className="sm:w-56">
        <TimeLeft lease={lease} />
      </Cell>
      <Cell column={COLUMNS.acquired} className="text-soft">
        <Moment at={lease.acquired_at} />
      </Cell>
      <Cell column={COLUMNS.fence}>{lease.fence}</Cell>
      <Cell column={COLUMNS.job} className="max-w-48">
        {lease.job_id ? (
          <span title={lease.job_id} className="block truncate font-mono text-xs/5">
            {lease.job_id}
          </span>
        ) : (
          <span className="text-soft">none</span>
        )}
      </Cell>
      <Cell column={COLUMNS.actions} className="!py-1 max-sm:!pl-0">
        <Button
          look="quiet"
          className="-mr-3"
          needs="leases.manage"
          onClick={onRevoke}
          aria-label={`Revoke ${name}`}
        >
          <Unplug aria-hidden size={15} className="sm:hidden" />
          <span className="max-sm:hidden">Revoke</span>
        </Button>
      </Cell>
    </tr>
  )
}
