// One run: where it is and why, how far, what it spends, what it brings as it comes, and everything behind that.
import { useEffect } from 'react'
import { useParams } from 'react-router'
import { Json } from '@/kit/Json'
import { Page } from '@/kit/Panel'
import { Heading, Subpage } from '@/kit/Subpage'
import { Tabs } from '@/kit/Tabs'
import { look } from '@/live/store'
import { useMoves, useRun, useSummary } from './api'
import { BudgetBanner } from './BudgetBanner'
import { ConfigTab } from './ConfigTab'
import { CostTab } from './CostTab'
import { EventsTab } from './EventsTab'
import { FailuresTab } from './FailuresTab'
import { FeedPanel } from './FeedPanel'
import { ItemsTab } from './ItemsTab'
import { RunActions } from './RunActions'
import { RunReason } from './RunReason'
import { SummaryPanel } from './SummaryPanel'
import { StatusBadge } from './signs'
import type { Run } from './types'

export function RunPage() {
  const { id = '' } = useParams()
  const query = useRun(id)
  const isThere = query.data !== undefined
  useEffect(() => {
    // News begin where the run that was loaded ends.
    if (isThere) look(id)
  }, [id, isThere])
  useEffect(() => () => look(null), [])
  return (
    <Subpage noun="run" list="Runs" to="/runs" query={query}>
      {(run, failure) => <Loaded key={run.id} run={run} failure={failure} />}
    </Subpage>
  )
}

function Loaded({ run, failure }: { run: Run; failure: React.ReactNode }) {
  const summary = useSummary(run)
  const moves = useMoves(run.id)
  const failures = run.failed_items
  return (
    <Page
      title={run.name}
      asks={`/v2/runs/${run.id}`}
      heading={
        <Heading list="Runs" to="/runs" name={run.name}>
          <StatusBadge run={run} />
          <span className="text-soft">
            {run.collector}: {run.categories.join(', ')}
          </span>
        </Heading>
      }
      actions={<RunActions run={run} />}
    >
      {failure}
      <BudgetBanner run={run} />
      {run.pause_reason !== 'budget' && <RunReason run={run} moves={moves.data} />}
      <SummaryPanel run={run} summary={summary.data} moves={moves.data} />
      <FeedPanel run={run} />
      <Tabs
        label="Details"
        tabs={{
          items: { label: 'Items', render: () => <ItemsTab run={run} /> },
          failures: {
            label: 'Failures',
            count: failures > 0 ? failures : undefined,
            render: () => <FailuresTab run={run} query={summary} />,
          },
          cost: { label: 'Cost', render: () => <CostTab run={run} summary={summary.data} /> },
          timeline: { label: 'Timeline', render: () => <EventsTab query={moves} /> },
          config: { label: 'Config', render: () => <ConfigTab run={run} /> },
          raw: { label: 'Raw JSON', render: () => <Raw run={run} /> },
        }}
      />
    </Page>
  )
}

function Raw({ run }: { run: Run }) {
  return (
    <div className="p-4">
      <Json value={run} label="The run as the API has it" className="max-h-[40rem]" />
    </div>
  )
}
