// Who has held an account: the lease it is under now, and every one before with how it ended.
import { Link } from 'react-router'
import { Badge, type Tone } from '@/kit/Badge'
import { Countdown } from '@/kit/Countdown'
import { briefly, Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Empty, Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { useRepeated } from '@/kit/useRepeated'
import { usePastLeases } from './api'
import { ENDS, OUTCOMES } from './states'
import type { Account, PastLease } from './types'

export function HistoryPanel({ account }: { account: Account }) {
  const list = usePastLeases(account.id)
  useRepeated(list)
  const isEmpty = list.items?.length === 0 && !account.lease_id
  return (
    <Panel title="Leases and outcomes" lead="Newest first.">
      {list.error !== null && (
        <div className="p-4">
          <Failure
            what="The history could not be loaded."
            error={list.error}
            onRetry={list.retry}
            isRetrying={list.isRefreshing}
            isOld={list.items !== undefined}
          />
        </div>
      )}
      {!list.items && list.error === null && (
        <div role="status" aria-busy="true" aria-label="Loading the history" className="skeleton m-4 h-40" />
      )}
      {isEmpty && (
        <Empty title="Nobody has used it yet">
          Each lease on it will be listed here: who held it, for how long, and how it went.
        </Empty>
      )}
      {list.items && !isEmpty && (
        <ol aria-label="Leases" className="flex flex-col px-4 pt-4">
          {account.lease_id && <Present account={account} />}
          {list.items.map((lease) => (
            <Past key={lease.id} lease={lease} />
          ))}
        </ol>
      )}
      {list.items && list.items.length > 0 && (
        <ListFooter list={list} shown={list.items.length} noun="lease" />
      )}
    </Panel>
  )
}

const DOTS: Record<Tone, string> = {
  neutral: 'border-edge bg-panel',
  accent: 'border-accent bg-accent',
  good: 'border-good bg-good',
  warn: 'border-warn bg-warn',
  bad: 'border-bad bg-bad',
}

function Stop({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <li className="group relative flex gap-3 pb-4">
      <span aria-hidden className="absolute top-4 bottom-0 left-[5.5px] w-px bg-line group-last:hidden" />
      <span aria-hidden className={`relative mt-1 size-3 shrink-0 rounded-full border-2 ${DOTS[tone]}`} />
      {children}
    </li>
  )
}

function Owner({ name }: { name: string }) {
  return (
    <Link
      to={`/leases?owner=${encodeURIComponent(name)}`}
      title={`Everything ${name} holds now`}
      className="min-w-0 font-medium [overflow-wrap:anywhere] hover:underline"
    >
      {name}
    </Link>
  )
}

function Present({ account }: { account: Account }) {
  return (
    <Stop tone="accent">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Owner name={account.holder ?? 'somebody'} />
          <Badge tone="accent">Holds it now</Badge>
        </div>
        <p className="text-xs/5 text-soft">
          Since <Moment at={account.last_leased_at} />
          {account.expires_at && (
            <>
              , <Countdown until={account.expires_at} before="ends in " over="ending" />
            </>
          )}
        </p>
      </div>
    </Stop>
  )
}

function Past({ lease }: { lease: PastLease }) {
  const held = Date.parse(lease.ended_at) - Date.parse(lease.acquired_at)
  const end = lease.how === 'released' ? null : ENDS[lease.how]
  const outcome = lease.outcome ? OUTCOMES[lease.outcome] : null
  return (
    <Stop tone={end?.tone ?? outcome?.tone ?? 'neutral'}>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Owner name={lease.owner} />
          {outcome && (
            <Badge tone={outcome.tone} icon={outcome.icon} title={outcome.means}>
              {outcome.label}
            </Badge>
          )}
          {end && (
            <Badge tone={end.tone} title={end.means}>
              {end.label}
            </Badge>
          )}
        </div>
        {lease.reason && <p className="[overflow-wrap:anywhere]">{lease.reason}</p>}
        <p className="flex flex-wrap gap-x-3 text-xs/5 text-soft">
          <span>
            Held {briefly(held)}, ended <Moment at={lease.ended_at} />
          </span>
          <span title="Grows with every lease on this account">fence {lease.fence}</span>
          {lease.job_id && <span className="font-mono [overflow-wrap:anywhere]">job {lease.job_id}</span>}
        </p>
      </div>
    </Stop>
  )
}
