// The first page: how it all stands, and what needs somebody. One request has everything.

import { asked } from '@/kit/copying'
import { Page } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { Failure } from '@/kit/states'
import { useUrlText } from '@/kit/useUrlText'
import { useOverview } from './api'
import { ConcernsPanel } from './ConcernsPanel'
import { FirstSteps, isNew } from './FirstSteps'
import { FlowPanels, StripsPanel } from './FlowPanels'
import { PoolsPanels } from './PoolsPanels'
import { Tiles } from './Tiles'

const WINDOWS: Record<string, { label: string; hours: number }> = {
  '1h': { label: '1 h', hours: 1 },
  '6h': { label: '6 h', hours: 6 },
  '1d': { label: '1 d', hours: 24 },
}

export function OverviewPage() {
  const [text, setText] = useUrlText('tw')
  const chosen = text in WINDOWS ? text : '1h'
  const hours = WINDOWS[chosen]?.hours ?? 1
  const { data, error, refetch, isFetching } = useOverview(hours)
  return (
    <Page
      title="Overview"
      lead="How it all stands, and what needs somebody."
      asks={asked('/v2/overview', { hours })}
      actions={
        <Segments
          label="How far back"
          value={chosen}
          options={Object.fromEntries(Object.entries(WINDOWS).map(([key, { label }]) => [key, label]))}
          onChange={(key) => setText(key === '1h' ? '' : key)}
        />
      }
    >
      {error && (
        <Failure
          what={`The overview could not be ${data ? 'refreshed' : 'loaded'}.`}
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
          isOld={data !== undefined}
        />
      )}
      {!data && !error && <Skeleton />}
      {data && (
        <>
          <Tiles seen={data} />
          {isNew(data) ? <FirstSteps /> : <ConcernsPanel concerns={data.concerns} />}
          {data.flow && <FlowPanels flow={data.flow} />}
          <PoolsPanels seen={data} />
          {data.flow && <StripsPanel strips={data.flow.strips} at={data.at} />}
        </>
      )}
    </Page>
  )
}

function Skeleton() {
  return (
    <div role="status" aria-busy="true" aria-label="Loading the overview" className="flex flex-col gap-4">
      <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <div className="skeleton h-24" />
        <div className="skeleton h-24" />
        <div className="skeleton h-24" />
        <div className="skeleton h-24" />
      </div>
      <div className="skeleton h-48" />
      <div className="skeleton h-64" />
    </div>
  )
}
