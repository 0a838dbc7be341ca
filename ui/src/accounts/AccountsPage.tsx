// Every pool and every account in it, by state; refreshed by itself.
import { Plus, Upload } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { asked } from '@/kit/copying'
import { Select } from '@/kit/Field'
import { FilterBar, Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { useSteady } from '@/kit/useSteady'
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
  const list = useSteady(useAccounts(filters.wanted, objection === null), ({ id }) => id)
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
  return (
    <Page
      title="Accounts"
      asks={asked('/v2/accounts', filters.wanted)}
      lead="The logins you collect with: which are free, who holds the others, and what keeps the rest."
      actions={isFirstUse || objection ? undefined : add}
    >
      {stats.data && stats.data.total > 0 && (
        <PoolsPanel totals={stats.data} sites={stats.data.sites} site={filters.site} state={filters.state} />
      )}
      <Listing
        list={list}
        also={{ error: stats.error, retry: stats.refetch }}
        noun="account"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={<Bar filters={filters} known={Object.keys(stats.data?.sites ?? {})} />}
        firstUse={<FirstUse add={add} />}
      >
        <AccountsTable
          accounts={list.items}
          onAct={(act, account) => setOpen({ act, account })}
          onLabel={filters.setLabel}
        />
      </Listing>
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

function Bar({ filters, known }: { filters: Filters; known: string[] }) {
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
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
    </FilterBar>
  )
}
