// What there is to work with: accounts by state, what is held now, and what falls due within the hour.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { StateBar } from '@/accounts/StateBar'
import { STATE_NAMES } from '@/accounts/states'
import type { Counts } from '@/accounts/types'
import { Panel } from '@/kit/Panel'
import { KINDS } from '@/leases/kinds'
import type { Overview } from './api'

export function PoolsPanels({ seen: { accounts, leases, seeds } }: { seen: Overview }) {
  return (
    <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
      {accounts && <AccountsPanel counts={accounts} />}
      {leases && <LeasesPanel counts={leases} />}
      {seeds && <SeedsPanel seeds={seeds} />}
    </div>
  )
}

function More({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="rounded px-2 text-xs text-accent hover:underline">
      {children}
    </Link>
  )
}

function AccountsPanel({ counts }: { counts: Record<string, number> }) {
  const total = STATE_NAMES.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return (
    <Panel
      title="Accounts"
      lead={`${total.toLocaleString('en')} in all pools.`}
      action={<More to="/accounts">All</More>}
    >
      <div className="px-4 py-4">
        {total > 0 ? (
          <StateBar of="all sites" counts={counts as Counts} linkTo={(state) => `/accounts?state=${state}`} />
        ) : (
          <p className="text-soft">None yet.</p>
        )}
      </div>
    </Panel>
  )
}

function LeasesPanel({ counts }: { counts: Record<string, number> }) {
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[]
  const total = Object.values(counts).reduce((sum, one) => sum + one, 0)
  return (
    <Panel
      title="Leases"
      lead={`${total.toLocaleString('en')} held now.`}
      action={<More to="/leases">All</More>}
    >
      <dl className="grid grid-cols-4 gap-2 px-4 py-3">
        {kinds.map((kind) => (
          <div key={kind} className="min-w-0">
            <dt className="truncate text-xs text-soft">{KINDS[kind].label}</dt>
            <dd className="text-lg font-semibold">
              <Link to={`/leases?kind=${kind}`} className="hover:underline">
                {(counts[kind] ?? 0).toLocaleString('en')}
              </Link>
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}

const LEAST_PERCENT = 6

function SeedsPanel({ seeds: { overdue, minutes } }: { seeds: NonNullable<Overview['seeds']> }) {
  const most = Math.max(1, ...minutes)
  const coming = minutes.reduce((sum, one) => sum + one, 0)
  return (
    <Panel
      title="Seeds"
      lead={`${overdue.toLocaleString('en')} due now, ${coming.toLocaleString('en')} more within the hour.`}
      action={<More to="/seeds">All</More>}
    >
      <ol
        aria-label="Seeds by when they fall due"
        className="mx-4 mt-3 mb-3.5 flex h-12 items-end gap-0.5 border-b border-edge"
      >
        {minutes.map((count, index) => {
          const words = `${count} in ${index * 5} to ${index * 5 + 5} minutes`
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the step of time is what the bar is
              key={index}
              title={words}
              className="flex h-full flex-1 items-end"
            >
              <span className="sr-only">{words}</span>
              <span
                aria-hidden
                style={{ height: `${count > 0 ? Math.max(LEAST_PERCENT, (100 * count) / most) : 0}%` }}
                className="w-full rounded-t-sm bg-accent"
              />
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}
