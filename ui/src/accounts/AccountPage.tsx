// One account: how it is and why, who has held it, and everything one can do to it.
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { Problem } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Menu } from '@/kit/Menu'
import { Page, Panel } from '@/kit/Panel'
import { Empty, Failure } from '@/kit/states'
import { AccountSession } from '@/sessions/AccountSession'
import { AccountDialog } from './AccountDialog'
import { ACTS, type Act, actsFor, menuOf } from './actions'
import { useAccount } from './api'
import { AccountExplanation } from './explaining'
import { FactsPanel } from './FactsPanel'
import { HistoryPanel } from './HistoryPanel'
import { LadderPanel } from './LadderPanel'
import { Marks, StateBadge } from './signs'
import type { Account } from './types'

export function AccountPage() {
  const { id = '' } = useParams()
  const { data: account, error, refetch, isFetching } = useAccount(id)

  if (error instanceof Problem && error.status === 404) return <Unknown />
  if (!account) {
    return (
      <Page title="Account" heading={<Heading name="Account" />}>
        {error ? (
          <Failure
            what="The account could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        ) : (
          <Skeleton />
        )}
      </Page>
    )
  }
  return (
    <Loaded
      account={account}
      failure={
        error && (
          <Failure
            what="The account could not be refreshed."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
            isOld
          />
        )
      }
    />
  )
}

/** The acts that stand beside the name; the rest is in the menu after them. */
const IN_SIGHT: Act[] = ['reveal', 'activate', 'deactivate', 'revoke']

function Loaded({ account, failure }: { account: Account; failure: React.ReactNode }) {
  const [act, setAct] = useState<Act | null>(null)
  const navigate = useNavigate()
  const acts = actsFor(account)
  return (
    <Page
      title={account.username}
      asks={`/v2/accounts/${account.id}`}
      heading={
        <Heading name={account.username}>
          <span className="text-soft">
            at{' '}
            <Link to={`/sites/${account.site}`} className="hover:underline">
              {account.site}
            </Link>
          </span>
          <StateBadge state={account.state} />
          <Marks account={account} />
        </Heading>
      }
      actions={
        <>
          {IN_SIGHT.filter((one) => acts.includes(one)).map((one) => (
            <Button key={one} icon={ACTS[one].icon} needs={ACTS[one].needs} onClick={() => setAct(one)}>
              {ACTS[one].label}
            </Button>
          ))}
          <Menu
            label="More actions"
            items={menuOf(account, setAct).filter(
              (item) => !IN_SIGHT.some((one) => ACTS[one].label === item.label),
            )}
          />
        </>
      }
    >
      {failure}
      <AccountExplanation account={account} />
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <HistoryPanel account={account} />
        </div>
        <div className="grid min-w-0 items-start gap-4 max-xl:order-first sm:grid-cols-2 xl:grid-cols-1">
          <LadderPanel rung={account.consecutive_failures} />
          <AccountSession account={account.id} hasSession={account.has_session} />
          <FactsPanel account={account} />
        </div>
      </div>
      {act && (
        <AccountDialog
          act={act}
          account={account}
          onClose={() => setAct(null)}
          onDeleted={() => navigate('/accounts')}
        />
      )}
    </Page>
  )
}

function Heading({ name, children }: { name: string; children?: React.ReactNode }) {
  return (
    <>
      <Link to="/accounts" className="rounded text-xs text-soft hover:text-ink hover:underline">
        Accounts
      </Link>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-xl/8 font-semibold tracking-tight [overflow-wrap:anywhere]">{name}</h1>
        {children}
      </div>
    </>
  )
}

function Unknown() {
  return (
    <Page title="Account" heading={<Heading name="Account" />}>
      <Panel>
        <Empty
          title="There is no such account"
          action={
            <Link to="/accounts" className="text-accent underline">
              See all accounts
            </Link>
          }
        >
          It was deleted, belongs to another organisation, or never was.
        </Empty>
      </Panel>
    </Page>
  )
}

function Skeleton() {
  return (
    <div aria-busy="true" role="status" aria-label="Loading the account" className="flex flex-col gap-4">
      <div className="skeleton h-14" />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="skeleton h-72" />
        <div className="skeleton h-72" />
      </div>
    </div>
  )
}
