// Who and what records speak of: each once, whatever its sources call it.

import { Link } from 'react-router'
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
import { AreaLinks } from './AreaLinks'
import { useEntities, useKinds } from './api'
import { EntitiesTable } from './EntitiesTable'
import { StatsPanel } from './StatsPanel'

function useFilters() {
  const [text, setText] = useUrlText('q')
  const [kind, setKind] = useUrlText('kind')
  const wanted = { kind: kind || undefined, q: useSettled(text.trim()) || undefined }
  return {
    ...{ wanted, text, setText, kind, setKind },
    isFiltered: wanted.kind !== undefined || wanted.q !== undefined || text !== '',
    clear: () => {
      for (const set of [setText, setKind]) set('')
    },
  }
}

export function EntitiesPage() {
  const objection = useObjection('entities.view')
  const filters = useFilters()
  const list = useSteady(useEntities(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  return (
    <Page
      title="Entities"
      asks={asked('/v2/entities', filters.wanted)}
      lead="Who and what records speak of: each once, whatever its sources call it."
      actions={<AreaLinks />}
    >
      {objection === null && <StatsPanel />}
      <Listing
        list={list}
        noun="entity"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={<Bar filters={filters} />}
        firstUse={<FirstUse />}
      >
        <EntitiesTable entities={list.items} />
      </Listing>
    </Page>
  )
}

function Bar({ filters }: { filters: ReturnType<typeof useFilters> }) {
  const kinds = useKinds()
  const named = [...new Set([...kinds, ...(filters.kind ? [filters.kind] : [])])]
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
      <SearchField
        label="Search by name"
        placeholder="Name or alias"
        value={filters.text}
        onChange={filters.setText}
        isMain
      />
      <Select
        label="Kind"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={filters.kind}
        onChange={filters.setKind}
        options={{ '': 'Every kind', ...Object.fromEntries(named.map((kind) => [kind, kind])) }}
      />
    </FilterBar>
  )
}

function FirstUse() {
  return (
    <Empty title="No entities yet">
      They are made of records: what a{' '}
      <Link to="/sources" className="text-accent underline">
        source
      </Link>{' '}
      says of somebody, what a{' '}
      <Link to="/runs/new?collector=ebay" className="text-accent underline">
        run of eBay
      </Link>{' '}
      finds out about sellers, or what is sent to{' '}
      <code className="font-mono text-xs">POST /v2/entities/records</code>.
    </Empty>
  )
}
