// The accounts as rows; in a narrow window everything but the state stands under the name.
import { Link } from 'react-router'
import { Countdown } from '@/kit/Countdown'
import { useColumns } from '@/kit/columns'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { type Act, menuOf } from './actions'
import { rest, TOP } from './ladder'
import { Labels, Marks, OutcomeMark, StateBadge } from './signs'
import type { Account } from './types'

const COLUMNS = {
  account: { title: 'Account', isFixed: true },
  site: { title: 'Site', from: 'xl' },
  state: { title: 'State' },
  holder: { title: 'Holder', from: 'xl' },
  outcome: { title: 'Last outcome', from: 'sm' },
  failures: { title: 'Failures', isNumber: true, from: 'lg' },
  priority: { title: 'Priority', isNumber: true, from: 'xl' },
  leased: { title: 'Last leased', isNumber: true, from: 'lg' },
  session: { title: 'Session', isExtra: true },
  created: { title: 'Created', isNumber: true, isExtra: true },
  changed: { title: 'Changed', isNumber: true, isExtra: true },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

type Props = {
  accounts: Account[] | undefined
  onAct: (act: Act, account: Account) => void
  onLabel: (label: string) => void
}

export function AccountsTable({ accounts, onAct, onLabel }: Props) {
  const columns = useColumns('accounts', COLUMNS)
  return (
    <Table label="Accounts" columns={columns} isLoading={!accounts}>
      {accounts?.map((account) => (
        <Row key={account.id} account={account} onAct={(act) => onAct(act, account)} onLabel={onLabel} />
      ))}
    </Table>
  )
}

type RowProps = { account: Account; onAct: (act: Act) => void; onLabel: (label: string) => void }

function Row({ account, onAct, onLabel }: RowProps) {
  const { consecutive_failures: rung } = account
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.account} className="[overflow-wrap:anywhere]">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 min-[1400px]:min-w-42">
          <Link to={`/accounts/${account.id}`} className="font-medium text-accent-strong hover:underline">
            {account.username}
          </Link>
          <Marks account={account} />
        </div>
        <div className="text-xs text-soft xl:hidden">at {account.site}</div>
        {Object.keys(account.labels).length > 0 && (
          <div className="mt-1">
            <Labels labels={account.labels} onChoose={onLabel} />
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.site}>
        <Link to={`/sites/${account.site}`} className="hover:underline">
          {account.site}
        </Link>
      </Cell>
      <Cell column={COLUMNS.state} className="max-sm:w-[45%]">
        <div className="flex flex-wrap items-center gap-x-2 min-[1400px]:min-w-38">
          <StateBadge state={account.state} />
          <div className="max-w-64 text-xs/5 text-soft">
            <Standing account={account} />
          </div>
        </div>
        {account.holder && (
          <div className="text-xs text-soft [overflow-wrap:anywhere] xl:hidden">by {account.holder}</div>
        )}
      </Cell>
      <Cell column={COLUMNS.holder} className="max-w-40">
        {account.holder ? (
          <Link
            to={`/leases?owner=${encodeURIComponent(account.holder)}`}
            title={`Everything ${account.holder} holds`}
            className="block truncate hover:underline"
          >
            {account.holder}
          </Link>
        ) : (
          <Nothing />
        )}
      </Cell>
      <Cell column={COLUMNS.outcome} className="text-xs/5">
        <OutcomeMark outcome={account.last_outcome} />
      </Cell>
      <Cell column={COLUMNS.failures}>
        {rung > 0 ? (
          <span title={`Rung ${rung} of ${TOP} of the cool-down ladder: ${rest(rung)}`}>{rung}</span>
        ) : (
          <Nothing word="0" />
        )}
        {account.unclean_ends > 0 && (
          <div
            title="Leases in a row that ran out instead of being given back"
            className="text-xs whitespace-nowrap text-warn"
          >
            {account.unclean_ends} unclean
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.priority}>{account.priority || <Nothing word="0" />}</Cell>
      <Cell column={COLUMNS.leased} className="text-soft">
        <Moment at={account.last_leased_at} />
      </Cell>
      <Cell column={COLUMNS.session}>
        {account.has_session ? (
          <Link to={`/sessions/${account.id}`} className="hover:underline">
            {account.needs_login ? 'needs a login' : 'kept'}
          </Link>
        ) : (
          <Nothing word="none" />
        )}
      </Cell>
      <Cell column={COLUMNS.created} className="text-soft">
        <Moment at={account.created_at} />
      </Cell>
      <Cell column={COLUMNS.changed} className="text-soft">
        <Moment at={account.updated_at} />
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on ${account.username}`} items={menuOf(account, onAct)} />
      </Cell>
    </tr>
  )
}

function Nothing({ word = '–' }: { word?: string }) {
  return <span className="text-soft">{word}</span>
}

/** Why it is in this state, and for how long. */
function Standing({ account }: { account: Account }) {
  if (account.state === 'using' && account.expires_at) {
    return (
      <>
        <Countdown until={account.expires_at} after=" left" over="ending" />
        {account.standing !== 'active' && `, then ${account.standing}`}
      </>
    )
  }
  if (account.state === 'cooling' && account.cooling_until) {
    return <Countdown until={account.cooling_until} after=" left" over="free any moment" />
  }
  if (account.state === 'blocked') {
    return (
      <span title={account.blocked_reason ?? undefined} className="line-clamp-2 [overflow-wrap:anywhere]">
        {account.blocked_reason}
      </span>
    )
  }
  return account.state === 'inactive' && account.last_outcome === 'invalid_credentials'
    ? 'credentials refused'
    : null
}
