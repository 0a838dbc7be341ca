// The plain facts of an account, and the ways to its site and to what was done to it.
import { Link } from 'react-router'
import { Fact } from '@/kit/Fact'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { useSite } from '@/sites/api'
import { TOP } from './ladder'
import { Labels, OutcomeMark } from './signs'
import { STATES } from './states'
import type { Account } from './types'

export function FactsPanel({ account }: { account: Account }) {
  const { data: site } = useSite(account.site)
  const quarantine = site?.policy.quarantine_after_unclean
  return (
    <Panel title="Facts">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Site">
          <Link to={`/sites/${account.site}`} className="text-accent hover:underline">
            {account.site}
          </Link>
        </Fact>
        <Fact term="Standing" title="What operators and outcomes say of it, whether or not it is in use.">
          {STATES[account.standing].label}
        </Fact>
        <Fact term="Priority" title="Higher is given out first.">
          {account.priority}
        </Fact>
        <Fact term="Last outcome">
          <OutcomeMark outcome={account.last_outcome} />
        </Fact>
        <Fact term="Failures in a row" title="The rung of the cool-down ladder.">
          {account.consecutive_failures} of {TOP}
        </Fact>
        <Fact term="Unclean ends" title="Leases in a row that ran out. At the limit it is set aside.">
          {account.unclean_ends}
          {quarantine !== undefined && ` of ${quarantine}`}
        </Fact>
        <Fact term="Session">
          {account.needs_login ? 'needs login' : account.has_session ? 'kept' : 'none'}
        </Fact>
        <Fact term="Last leased">
          <Moment at={account.last_leased_at} />
        </Fact>
        <Fact term="Created">
          <Moment at={account.created_at} />
        </Fact>
        <Fact term="Updated">
          <Moment at={account.updated_at} />
        </Fact>
        <div className="mt-1">
          <dt className="text-soft">Labels</dt>
          <dd className="mt-1">
            {Object.keys(account.labels).length > 0 ? <Labels labels={account.labels} /> : 'none'}
          </dd>
        </div>
        <div className="mt-1">
          <dt className="text-soft">Id</dt>
          <dd className="font-mono text-xs/5 break-all select-all">{account.id}</dd>
        </div>
      </dl>
      <p className="border-t border-line px-4 py-2.5">
        <Link to={`/audit?subject=${encodeURIComponent(account.id)}`} className="text-accent hover:underline">
          Who changed or saw what
        </Link>
      </p>
    </Panel>
  )
}
