// All runs, newest first: how many are where, what they did when, and the way to plan another.
import { useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useObjection, useWho } from '@/api/permissions'
import { LINK_LOOK } from '@/kit/Button'
import { BulkBar, useChoice } from '@/kit/choosing'
import { asked } from '@/kit/copying'
import { FilterBar, Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useSteady } from '@/kit/useSteady'
import { useUrlText } from '@/kit/useUrlText'
import { useFreshness } from '@/live/store'
import { useHistory, useRuns } from './api'
import { BULK, type Open, RunDialog } from './RunDialog'
import { RunsTable } from './RunsTable'
import { StatusChips } from './StatusChips'
import { isStatus } from './states'
import { TimelinePanel, useWindow } from './TimelinePanel'
import { useRefreshed } from './useRefreshed'

/** Unknown words in the address are no error: they choose nothing. */
export function chosenFrom(text: string): string[] {
  return text.split(',').filter(isStatus)
}

export function RunsPage() {
  const objection = useObjection('runs.view')
  const [status, setStatus] = useUrlText('status')
  const chosen = chosenFrom(status)
  const [used, setUsed] = useUrlText('used')
  const percent = /^\d{1,2}$|^100$/.test(used) ? Number(used) : undefined
  const [by, setBy] = useUrlText('by')
  const me = useWho().data?.name
  const planner = (by === 'me' ? me : by) || undefined
  const wanted = { status: chosen.join(',') || undefined, used_percent: percent, created_by: planner }
  // Who I am is known in a moment: until then nobody's runs are mine.
  const isKnown = by !== 'me' || me !== undefined
  const list = useSteady(useRuns(wanted, objection === null && isKnown), ({ id }) => id)
  const { mode } = useFreshness()
  useRefreshed(list, mode)
  const queries = useQueryClient()
  const choice = useChoice(list.items?.map(({ id }) => id) ?? [])
  const timeWindow = useWindow()
  const history = useHistory(timeWindow.hours, objection === null)
  const [open, setOpen] = useState<Open | null>(null)
  const isFiltered = chosen.length > 0 || percent !== undefined || by !== ''
  const isFirstUse = list.items?.length === 0 && !isFiltered
  const plan = <PlanLink />
  return (
    <Page
      title="Runs"
      lead="Collections with a budget: planned, priced, and watched while they spend it."
      actions={isFirstUse ? undefined : plan}
      asks={asked('/v2/runs', wanted)}
    >
      {objection === null && !isFirstUse && (
        <>
          <StatusChips chosen={chosen} onChoose={(names) => setStatus(names.join(','))} />
          <TimelinePanel query={history} chosen={chosen} by={planner} timeWindow={timeWindow} />
        </>
      )}
      <Listing
        list={list}
        noun="run"
        objection={objection}
        isFiltered={isFiltered}
        onClear={() => {
          for (const set of [setStatus, setUsed, setBy]) set('')
        }}
        filters={
          <>
            {percent !== undefined && (
              <Said onClear={() => setUsed('')}>At least {percent} % of the cap is spent or reserved.</Said>
            )}
            {planner && (
              <Said onClear={() => setBy('')}>
                Planned by {planner}
                {planner === me && ', which is you'}.
              </Said>
            )}
            <BulkBar
              items={list.items ?? []}
              idOf={({ id }) => id}
              nameOf={({ name }) => name}
              choice={choice}
              acts={BULK}
              needs="runs.manage"
              onDone={() => queries.invalidateQueries()}
            />
          </>
        }
        firstUse={
          <Empty title="No runs yet" action={plan}>
            A run collects categories of a collector, one paid item after the other. You see what it may cost
            before it begins, it never spends more than its cap, and what it brings can be used while it goes
            on.
          </Empty>
        }
      >
        <RunsTable runs={list.items} choice={choice} history={history.data} onOpen={setOpen} />
      </Listing>
      {open && <RunDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

/** What the address says that no other control shows. */
function Said({ onClear, children }: { onClear: () => void; children: ReactNode }) {
  return (
    <FilterBar isFiltered onClear={onClear}>
      <span>{children}</span>
    </FilterBar>
  )
}

function PlanLink() {
  const objection = useObjection('runs.manage')
  return (
    <Link to="/runs/new" title={objection ?? undefined} className={LINK_LOOK}>
      <Plus aria-hidden size={15} className="-ml-0.5" />
      Plan a run
    </Link>
  )
}
