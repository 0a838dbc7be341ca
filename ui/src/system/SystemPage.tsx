// How the server is, what it does in the background, whom it has told, and which version of it this is.
import { CircleCheck, CircleX } from 'lucide-react'
import { useObjection } from '@/api/permissions'
import { useBooks } from '@/jobs/api'
import { Badge } from '@/kit/Badge'
import { CopyButton } from '@/kit/CopyButton'
import { Fact } from '@/kit/Fact'
import { briefly, lasting, Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { Columns } from '@/kit/Subpage'
import { Failure } from '@/kit/states'
import { useReadiness } from '@/shell/readiness'
import { AlertsPanel } from './AlertsPanel'
import { type System, useSystem } from './api'
import { TasksPanel } from './TasksPanel'

// What each check of /readyz looks at; one this UI does not know yet is shown by its name alone.
const CHECKS: Record<string, string> = {
  server: 'Takes requests and is not stopping.',
  database: 'Takes writes.',
  migrations: 'The schema is the one this version expects.',
  tasks: 'Everything that runs in the background is well.',
}

export function SystemPage() {
  const objection = useObjection('metrics.view')
  const query = useSystem(objection === null)
  const { data, error, refetch, isFetching } = query
  return (
    <Page title="System" lead="How the server is, and what it does by itself." asks="/v2/system">
      {error && (
        <Failure
          what={`The system could not be ${data ? 'refreshed' : 'loaded'}.`}
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
          isOld={data !== undefined}
        />
      )}
      <Columns
        main={
          <>
            <ReadinessPanel />
            {objection === null && (
              <>
                <TasksPanel tasks={data?.tasks} />
                <AlertsPanel system={data} />
              </>
            )}
          </>
        }
        side={
          <>
            {objection === null ? (
              <VersionPanel system={data} />
            ) : (
              <Panel title="Version">
                <p className="px-4 py-3 text-soft">{objection}</p>
              </Panel>
            )}
            <BooksPanel system={data} />
          </>
        }
      />
    </Page>
  )
}

function ReadinessPanel() {
  const { data, dataUpdatedAt, refetch, isFetching } = useReadiness()
  const checks = Object.entries(data?.checks ?? {})
  return (
    <Panel
      title="Readiness"
      lead={
        data ? (
          <>
            Asked <Moment at={new Date(dataUpdatedAt).toISOString()} />, and again every 15 seconds
          </>
        ) : (
          'Asking the server'
        )
      }
    >
      {!data && <div role="status" aria-label="Loading the checks" className="skeleton m-4 h-32" />}
      {data && !data.isReady && (
        <div className="p-4">
          <Failure
            what="The server is not ready."
            error={new Error(data.words)}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        </div>
      )}
      {data && (
        <ul aria-label="Checks" className="grid divide-y divide-line sm:grid-cols-2 sm:divide-y-0">
          {checks.map(([name, state]) => (
            <li key={name} className="flex items-center justify-between gap-4 px-4 py-2.5">
              <div>
                <p className="font-medium">{name}</p>
                <p className="text-xs text-soft">{CHECKS[name]}</p>
              </div>
              <Badge tone={state === 'ok' ? 'good' : 'bad'} icon={state === 'ok' ? CircleCheck : CircleX}>
                {state}
              </Badge>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function VersionPanel({ system }: { system: System | undefined }) {
  return (
    <Panel title="Version" lead="Of the process that answered.">
      {system ? (
        <dl className="flex flex-col gap-1.5 px-4 py-3">
          <Fact term="leasehold">{system.version}</Fact>
          <Fact term="PostgreSQL">{system.postgres}</Fact>
          <Fact term="Python">{system.python}</Fact>
          <Fact term="Schema" title="The last migration that was made.">
            <span className="font-mono text-xs/5">{system.schema_step}</span>
          </Fact>
          <Fact
            term="Settings"
            title="Equal for two processes that are set up alike; secrets are no part of it."
          >
            <span className="font-mono text-xs/5">{system.settings_hash}</span>
          </Fact>
          <Fact term="Pools in">{system.pools}</Fact>
          <Fact term="Up for">{lasting(system.up_seconds * 1000)}</Fact>
        </dl>
      ) : (
        <div role="status" aria-label="Loading the version" className="skeleton m-4 h-32" />
      )}
      <div className="flex items-center justify-between border-t border-line py-2 pr-2 pl-4">
        <a href="/docs" className="text-accent hover:underline">
          API reference
        </a>
        {system && <CopyButton text={report(system)} label="Copy all" />}
      </div>
    </Panel>
  )
}

/** For whoever is asked for help: what they would ask first. */
function report(system: System): string {
  const { version, postgres, python, schema_step, settings_hash, pools, checks } = system
  const told = { leasehold: version, postgres, python, schema_step, settings_hash, pools, ...checks }
  return Object.entries(told)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function BooksPanel({ system }: { system: System | undefined }) {
  const isAllowed = useObjection('jobs.view') === null
  const { data } = useBooks(isAllowed)
  const unaccounted = data?.reduce((sum, one) => sum + one.unaccounted, 0)
  return (
    <Panel title="Books" lead="Nothing that was accepted may be lost.">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Unaccounted jobs">
          {unaccounted === undefined ? (
            <span className="text-soft">–</span>
          ) : (
            <Badge tone={unaccounted === 0 ? 'good' : 'bad'}>{unaccounted}</Badge>
          )}
        </Fact>
        <Fact term="Results to be written" title="Accepted, and not yet where their platform keeps them.">
          {system ? system.unwritten.toLocaleString('en') : '–'}
        </Fact>
        {system?.oldest_unwritten_seconds != null && (
          <Fact term="Oldest of them">{briefly(system.oldest_unwritten_seconds * 1000)}</Fact>
        )}
      </dl>
    </Panel>
  )
}
