// Everything that is held right now, by whom and for how long, and the way to take it back.
import { useState } from 'react'
import { SiteFilter } from '@/accounts/SiteField'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { Select } from '@/kit/Field'
import { Page, Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { useRepeated } from '@/kit/useRepeated'
import { useSettled } from '@/kit/useSettled'
import { useUrlText } from '@/kit/useUrlText'
import { type Lease, useHeldNames, useLeases } from './api'
import { isKind, KINDS } from './kinds'
import { LeasesTable } from './LeasesTable'
import { RevokeLeaseDialog, RevokeOwnerDialog } from './RevokeDialogs'

const ANY_KIND = {
  '': 'Every kind',
  ...Object.fromEntries(Object.entries(KINDS).map(([kind, { label }]) => [kind, label])),
}

function useFilters() {
  const [kind, setKind] = useUrlText('kind')
  const [site, setSite] = useUrlText('site')
  const [owner, setOwner] = useUrlText('owner')
  const wanted = {
    kind: isKind(kind) ? kind : undefined,
    site: site || undefined,
    owner: useSettled(owner.trim()) || undefined,
  }
  return {
    wanted,
    setKind,
    site,
    setSite,
    owner,
    setOwner,
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear: () => {
      for (const set of [setKind, setSite, setOwner]) set('')
    },
  }
}

type Doomed = { lease: Lease } | { owner: string }

export function LeasesPage() {
  const objection = useObjection('leases.view')
  const filters = useFilters()
  const list = useLeases(filters.wanted, objection === null)
  useRepeated(list)
  const names = useHeldNames(useObjection('accounts.view') === null)
  const nameOf = (lease: Lease) => names[lease.resource_id] ?? `${lease.resource_id.slice(0, 17)}…`
  const [doomed, setDoomed] = useState<Doomed | null>(null)
  const close = () => setDoomed(null)
  return (
    <Page title="Leases" lead="Everything that is held right now, and by whom.">
      {list.error !== null && (
        <Failure
          what={list.items ? 'The leases could not be refreshed.' : 'The leases could not be loaded.'}
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
          isOld={list.items !== undefined}
        />
      )}
      {objection && (
        <Panel>
          <Empty title="Not for this token">{objection}</Empty>
        </Panel>
      )}
      {!objection && (list.error === null || list.items) && (
        <Panel label="List">
          <FilterBar filters={filters} />
          {list.items?.length === 0 ? (
            <Nothing isFiltered={filters.isFiltered} onClear={filters.clear} />
          ) : (
            <LeasesTable
              leases={list.items}
              nameOf={nameOf}
              onOwner={filters.setOwner}
              onRevoke={(lease) => setDoomed({ lease })}
              onRevokeOwner={(owner) => setDoomed({ owner })}
            />
          )}
          {list.items && list.items.length > 0 && (
            <ListFooter list={list} shown={list.items.length} noun="lease" />
          )}
        </Panel>
      )}
      {doomed && 'lease' in doomed && (
        <RevokeLeaseDialog lease={doomed.lease} name={nameOf(doomed.lease)} onClose={close} />
      )}
      {doomed && 'owner' in doomed && <RevokeOwnerDialog owner={doomed.owner} onClose={close} />}
    </Page>
  )
}

function FilterBar({ filters }: { filters: ReturnType<typeof useFilters> }) {
  return (
    <search
      aria-label="Filters"
      className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5"
    >
      <SearchField
        label="Owner"
        placeholder="Owner, in full"
        value={filters.owner}
        onChange={filters.setOwner}
        isMain
      />
      <SiteFilter value={filters.site} onChange={filters.setSite} />
      <Select
        label="Kind"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={filters.wanted.kind ?? ''}
        onChange={filters.setKind}
        options={ANY_KIND as Record<string, string>}
      />
      {filters.isFiltered && (
        <Button look="quiet" onClick={filters.clear}>
          Clear
        </Button>
      )}
    </search>
  )
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return isFiltered ? (
    <Empty title="No lease matches" action={<Button onClick={onClear}>Clear the filters</Button>}>
      Nothing that is held right now fits all the filters. An owner is matched in full.
    </Empty>
  ) : (
    <Empty title="Nothing is held right now">
      A lease is the right to use an account, a seed or another resource for a short time. It ends when its
      holder gives it back, or by itself when no heartbeat comes. Those that live are listed here.
    </Empty>
  )
}
