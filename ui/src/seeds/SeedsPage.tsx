// What is visited again and again: when each is due, how its last visit went, and what the next hours bring.
import { Plus, Upload } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { SiteFilter } from '@/accounts/SiteField'
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
import { AddSeedDialog } from './AddSeedDialog'
import type { Act } from './actions'
import { useHistogram, useSeeds } from './api'
import { type Filters, useFilters } from './filters'
import { HistogramPanel } from './HistogramPanel'
import { ImportSeedsDialog } from './ImportSeedsDialog'
import { SeedDialog } from './SeedDialog'
import { SeedsTable } from './SeedsTable'
import type { Seed } from './types'

type Open = { act: 'add' | 'import' } | { act: Act; seed: Seed }

export function SeedsPage() {
  const objection = useObjection('seeds.view')
  const filters = useFilters()
  const list = useSteady(useSeeds(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  const histogram = useHistogram(filters.wanted.site, objection === null)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const isFirstUse = list.items?.length === 0 && !filters.isFiltered
  const add = (
    <>
      <Button icon={Upload} needs="seeds.manage" onClick={() => setOpen({ act: 'import' })}>
        Import seeds
      </Button>
      <Button look="primary" icon={Plus} needs="seeds.manage" onClick={() => setOpen({ act: 'add' })}>
        Add seed
      </Button>
    </>
  )
  return (
    <Page
      title="Seeds"
      asks={asked('/v2/seeds', filters.wanted)}
      lead="Addresses that are visited again and again, and when each is due."
      actions={isFirstUse || objection ? undefined : add}
    >
      {!objection && list.items && !isFirstUse && <HistogramPanel query={histogram} site={filters.site} />}
      <Listing
        list={list}
        noun="seed"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={<Bar filters={filters} />}
        firstUse={<FirstUse add={add} />}
      >
        <SeedsTable
          seeds={list.items}
          onAct={(act, seed) => setOpen({ act, seed })}
          onLabel={filters.setLabel}
        />
      </Listing>
      {open?.act === 'add' && <AddSeedDialog site={filters.site} onClose={close} />}
      {open?.act === 'import' && <ImportSeedsDialog site={filters.site} onClose={close} />}
      {open && 'seed' in open && <SeedDialog {...open} onClose={close} />}
    </Page>
  )
}

function FirstUse({ add }: { add: React.ReactNode }) {
  return (
    <Empty title="No seeds yet" action={<div className="flex flex-wrap justify-center gap-2">{add}</div>}>
      A seed is an address at a{' '}
      <Link to="/sites" className="text-accent underline">
        site
      </Link>{' '}
      that collectors visit again and again. It is handed out when it is due, sooner where visits find
      something and later where they do not. Many at once are imported as CSV, NDJSON, JSON or OPML.
    </Empty>
  )
}

const DUE = { '': 'Due or not', true: 'Due now', false: 'Not due' }
const ENABLED = { '': 'Enabled or not', true: 'Enabled', false: 'Disabled' }

function Bar({ filters }: { filters: Filters }) {
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
      <SearchField
        label="Label"
        placeholder="Label, as key:value"
        value={filters.label}
        onChange={filters.setLabel}
        isMain
      />
      <SiteFilter value={filters.site} onChange={filters.setSite} />
      <Select
        label="Due"
        isLabelHidden
        className="min-w-28 flex-1 sm:flex-none"
        value={filters.due}
        onChange={filters.setDue}
        options={DUE as Record<string, string>}
      />
      <Select
        label="Enabled"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={filters.enabled}
        onChange={filters.setEnabled}
        options={ENABLED as Record<string, string>}
      />
      {filters.isHalfLabel && (
        <p role="status" className="text-xs text-soft">
          A label is written key:value.
        </p>
      )}
    </FilterBar>
  )
}
