// Every pool and every account in it, by state; refreshed by itself.
import { Plus, Upload } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { Select } from '@/kit/Field'
import { Page, Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { useRepeated } from '@/kit/useRepeated'
import { AccountDialog } from './AccountDialog'
import { AccountsTable } from './AccountsTable'
import type { Act } from './actions'
import { useAccounts, useStats } from './api'
import { CreateAccountDialog } from './CreateAccountDialog'
import { type Filters, useFilters } from './filters'
import { ImportDialog } from './ImportDialog'
import { PoolsPanel } from './PoolsPanel'
import { SiteFilter } from './SiteField'
import { STATE_NAMES, STATES } from './states'
import type { Account } from './types'

type Open = { act: 'create' | 'import' } | { act: Act; account: Account }

export function AccountsPage() {
  const objection = useObjection('accounts.view')
  const filters = useFilters()
  const stats = useStats(objection === null)
  const list = useAccounts(filters.wanted, objection === null)
  useRepeated(list)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const isFirstUse = list.items?.length === 0 && !filters.isFiltered
  const add = (
    <>
      <Button icon={Upload} needs="accounts.manage" onClick={() => setOpen({ act: 'import' })}>
        Import
      </Button>
      <Button look="primary" icon={Plus} needs="accounts.manage" onClick={() => setOpen({ act: 'create' })}>
        Create account
      </Button>
    </>
  )
  const failed = list.error ?? stats.error
  return (
    <Page
      title="Accounts"
      lead="The logins you collect with: which are free, who holds the others, and what keeps the rest."
      actions={isFirstUse || objection ? undefined : add}
    >
      {failed !== null && (
        <Failure
          what={list.items ? 'The accounts could not be refreshed.' : 'The accounts could not be loaded.'}
          error={failed}
          onRetry={() => {
            list.retry()
            stats.refetch()
          }}
          isRetrying={list.isRefreshing}
          isOld={list.items !== undefined}
        />
      )}
      {objection && (
        <Panel>
          <Empty title="Not for this token">{objection}</Empty>
        </Panel>
      )}
      {stats.data && stats.data.total > 0 && (
        <PoolsPanel totals={stats.data} sites={stats.data.sites} site={filters.site} state={filters.state} />
      )}
      {!objection && (list.error === null || list.items) && (
        <Panel label="List">
          {isFirstUse ? (
            <FirstUse add={add} />
          ) : (
            <>
              <FilterBar filters={filters} known={Object.keys(stats.data?.sites ?? {})} />
              {list.items?.length === 0 ? (
                <Empty
                  title="No account matches"
                  action={<Button onClick={filters.clear}>Clear the filters</Button>}
                >
                  There are {stats.data?.total ?? 'other'} accounts, and none of them fits all the filters.
                </Empty>
              ) : (
                <AccountsTable
                  accounts={list.items}
                  onAct={(act, account) => setOpen({ act, account })}
                  onLabel={filters.setLabel}
                />
              )}
              {list.items && <ListFooter list={list} shown={list.items.length} noun="account" />}
            </>
          )}
        </Panel>
      )}
      {open?.act === 'create' && <CreateAccountDialog site={filters.site} onClose={close} />}
      {open?.act === 'import' && <ImportDialog onClose={close} />}
      {open && 'account' in open && <AccountDialog {...open} onClose={close} />}
    </Page>
  )
}

function FirstUse({ add }: { add: React.ReactNode }) {
  return (
    <Empty title="No accounts yet" action={<div className="flex flex-wrap justify-center gap-2">{add}</div>}>
      An account is a login at a{' '}
      <Link to="/sites" className="text-accent underline">
        site
      </Link>
      . Collectors take one on lease, one at a time each, and say how it went; it rests, is set aside or goes
      on to the next accordingly.
    </Empty>
  )
}

const ANY_STATE = {
  '': 'Every state',
  ...Object.fromEntries(STATE_NAMES.map((name) => [name, STATES[name].label])),
}

function FilterBar({ filters, known }: { filters: Filters; known: string[] }) {
  return (
    <search
      aria-label="Filters"
      className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5"
    >
      <SearchField
        label="Username"
        placeholder="Part of the username"
        value={filters.q}
        onChange={filters.setQ}
        isMain
      />
      <SiteFilter value={filters.site} onChange={filters.setSite} known={known} />
      <Select
        label="State"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={filters.state ?? ''}
        onChange={filters.setState}
        options={ANY_STATE as Record<string, string>}
      />
      <SearchField
        label="Label"
        placeholder="Label, as key:value"
        value={filters.label}
        onChange={filters.setLabel}
      />
      {filters.isHalfLabel && (
        <p role="status" className="text-xs text-soft">
          A label is written key:value.
        </p>
      )}
      {filters.isFiltered && (
        <Button look="quiet" onClick={filters.clear}>
          Clear
        </Button>
      )}
    </search>
  )
}
