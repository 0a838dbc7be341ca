// Everything that is held right now, by whom and for how long, and the way to take it back.
import { useState } from 'react'
import { SiteFilter } from '@/accounts/SiteField'
import { useObjection } from '@/api/permissions'
import { asked } from '@/kit/copying'
import { Select } from '@/kit/Field'
import { FilterBar, Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { useSettled } from '@/kit/useSettled'
import { useSteady } from '@/kit/useSteady'
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
  const list = useSteady(useLeases(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  const names = useHeldNames(useObjection('accounts.view') === null)
  const nameOf = (lease: Lease) => names[lease.resource_id] ?? `${lease.resource_id.slice(0, 17)}…`
  const [doomed, setDoomed] = useState<Doomed | null>(null)
  const close = () => setDoomed(null)
  return (
    <Page
      title="Leases"
      asks={asked('/v2/leases', filters.wanted)}
      lead="Everything that is held right now, and by whom."
    >
      <Listing
        list={list}
        noun="lease"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={<Bar filters={filters} />}
        hint="An owner is matched in full."
        firstUse={<FirstUse />}
      >
        <LeasesTable
          leases={list.items}
          nameOf={nameOf}
          onOwner={filters.setOwner}
          onRevoke={(lease) => setDoomed({ lease })}
          onRevokeOwner={(owner) => setDoomed({ owner })}
        />
      </Listing>
      {doomed && 'lease' in doomed && (
        <RevokeLeaseDialog lease={doomed.lease} name={nameOf(doomed.lease)} onClose={close} />
      )}
      {doomed && 'owner' in doomed && <RevokeOwnerDialog owner={doomed.owner} onClose={close} />}
    </Page>
  )
}

function Bar({ filters }: { filters: ReturnType<typeof useFilters> }) {
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
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
    </FilterBar>
  )
}

function FirstUse() {
  return (
    <Empty title="Nothing is held right now">
      A lease is the right to use an account, a seed or another resource for a short time. It ends when its
      holder gives it back, or by itself when no heartbeat comes. Those that live are listed here.
    </Empty>
  )
}
