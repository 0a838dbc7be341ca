// What visits brought home, newest first: where each is on its way to a consumer, and what is set aside.
import { useState } from 'react'
import { Link } from 'react-router'
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
import type { Act } from './actions'
import { useCaptures, type Wanted } from './api'
import { CaptureDialog } from './CaptureDialog'
import { CapturesTable } from './CapturesTable'
import { isState, STATE_NAMES, STATES } from './states'
import type { Capture } from './types'

const ANY_STATE = {
  '': 'Every state',
  ...Object.fromEntries(STATE_NAMES.map((name) => [name, STATES[name].label])),
}

function useFilters() {
  const [site, setSite] = useUrlText('site')
  const [state, setState] = useUrlText('state')
  const [url, setUrl] = useUrlText('url')
  const wanted: Wanted = {
    site: site || undefined,
    state: isState(state) ? state : undefined,
    url: useSettled(url.trim()) || undefined,
  }
  return {
    ...{ wanted, site, setSite, setState, url, setUrl },
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear: () => {
      for (const set of [setSite, setState, setUrl]) set('')
    },
  }
}

export function CapturesPage() {
  const objection = useObjection('captures.view')
  const filters = useFilters()
  const list = useSteady(useCaptures(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  const [open, setOpen] = useState<{ act: Act; capture: Capture } | null>(null)
  return (
    <Page
      title="Captures"
      asks={asked('/v2/captures', filters.wanted)}
      lead="What visits brought home, and what became of it."
    >
      <Listing
        list={list}
        noun="capture"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={<Bar filters={filters} />}
        hint="A URL is matched in full, also from before its site moved."
        firstUse={<FirstUse />}
      >
        <CapturesTable captures={list.items} onAct={(act, capture) => setOpen({ act, capture })} />
      </Listing>
      {open && <CaptureDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function Bar({ filters }: { filters: ReturnType<typeof useFilters> }) {
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
      <SearchField
        label="URL"
        placeholder="URL, in full"
        value={filters.url}
        onChange={filters.setUrl}
        isMain
      />
      <SiteFilter value={filters.site} onChange={filters.setSite} />
      <Select
        label="State"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={filters.wanted.state ?? ''}
        onChange={filters.setState}
        options={ANY_STATE as Record<string, string>}
      />
    </FilterBar>
  )
}

function FirstUse() {
  return (
    <Empty
      title="No captures yet"
      action={
        <Link to="/seeds" className="text-accent underline">
          See what is due
        </Link>
      }
    >
      A capture is what a visit brought home: one or more files, and where they are from. Have a collector
      hand them in with <code className="font-mono text-xs">POST /v2/captures</code>, or{' '}
      <code className="font-mono text-xs">lh.captures</code> in the SDK; consumers then claim them here.
    </Empty>
  )
}
