// How the server is, and which version of it this is.
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { Unreachable } from '@/api/problems'
import { Badge } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { useReadiness } from '@/shell/readiness'

type Description = { openapi: string; info: { title: string; version: string; license?: { name: string } } }

// What each check of /readyz looks at; one this UI does not know yet is shown by its name alone.
const CHECKS: Record<string, string> = {
  server: 'Takes requests and is not stopping.',
  database: 'Takes writes.',
  migrations: 'The schema is the one this version expects.',
  tasks: 'Everything that runs in the background is well.',
}

function useDescription() {
  return useQuery({
    queryKey: ['openapi'],
    queryFn: async (): Promise<Description> => {
      const response = await fetch('/openapi.json').catch(() => null)
      if (!response?.ok) throw new Unreachable()
      return response.json()
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function SystemPage() {
  return (
    <Page title="System" lead="How the server is, and which version of it this is.">
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <ReadinessPanel />
        <VersionPanel />
      </div>
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
        <ul aria-label="Checks" className="divide-y divide-line">
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

function VersionPanel() {
  const { data, error, refetch, isFetching } = useDescription()
  return (
    <Panel title="Version">
      {error && (
        <div className="p-4">
          <Failure
            what="The version could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        </div>
      )}
      {!data && !error && (
        <div role="status" aria-label="Loading the version" className="skeleton m-4 h-16" />
      )}
      {data && (
        <dl className="flex flex-col gap-1.5 px-4 py-3">
          <Fact term={data.info.title} value={data.info.version} />
          <Fact term="API description" value={`OpenAPI ${data.openapi}`} />
          <Fact term="Licence" value={data.info.license?.name ?? 'none given'} />
        </dl>
      )}
      <p className="border-t border-line px-4 py-2.5">
        <a href="/docs" className="text-accent hover:underline">
          API reference
        </a>
      </p>
    </Panel>
  )
}

function Fact({ term, value }: { term: string; value: string }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-soft">{term}</dt>
      <dd>{value}</dd>
    </div>
  )
}
