// One site: how it is, where it has lived, how it is treated, and everything one can do to it.
import { Link, useParams } from 'react-router'
import { Problem } from '@/api/problems'
import { Page, Panel } from '@/kit/Panel'
import { Empty, Failure } from '@/kit/states'
import { AccountsPanel } from './AccountsPanel'
import { AddressesPanel } from './AddressesPanel'
import { useSite } from './api'
import { ExplanationPanel } from './ExplanationPanel'
import { FactsPanel } from './FactsPanel'
import { PolicyPanel } from './PolicyPanel'
import { SiteActions } from './SiteActions'
import { SiteState } from './SiteState'
import { UrlTesterPanel } from './UrlTester'

export function SitePage() {
  const { slug = '' } = useParams()
  const { data: site, error, refetch, isFetching } = useSite(slug)

  if (error instanceof Problem && error.status === 404) return <Unknown slug={slug} />
  if (!site) {
    return (
      <Page title={slug} heading={<Heading name={slug} />}>
        {error ? (
          <Failure
            what="The site could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        ) : (
          <Skeleton />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={site.name}
      asks={`/v2/sites/${site.slug}`}
      heading={
        <Heading name={site.name}>
          {site.name !== site.slug && <code className="font-mono text-sm text-soft">{site.slug}</code>}
          <SiteState site={site} />
        </Heading>
      }
      actions={<SiteActions site={site} />}
    >
      {error && (
        <Failure
          what="The site could not be refreshed."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
          isOld
        />
      )}
      <ExplanationPanel slug={slug} />
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <AccountsPanel slug={slug} />
          <AddressesPanel site={site} />
          <UrlTesterPanel site={site} />
        </div>
        <div className="grid min-w-0 items-start gap-4 sm:grid-cols-2 xl:grid-cols-1">
          <PolicyPanel site={site} />
          <FactsPanel site={site} />
        </div>
      </div>
    </Page>
  )
}

function Heading({ name, children }: { name: string; children?: React.ReactNode }) {
  return (
    <>
      <Link to="/sites" className="rounded text-xs text-soft hover:text-ink hover:underline">
        Sites
      </Link>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-xl/8 font-semibold tracking-tight break-words">{name}</h1>
        {children}
      </div>
    </>
  )
}

function Unknown({ slug }: { slug: string }) {
  return (
    <Page title={slug} heading={<Heading name={slug} />}>
      <Panel>
        <Empty
          title="There is no such site"
          action={
            <Link to="/sites" className="text-accent underline">
              See all sites
            </Link>
          }
        >
          It was deleted, belongs to another organisation, or never was.
        </Empty>
      </Panel>
    </Page>
  )
}

function Skeleton() {
  return (
    <div aria-busy="true" role="status" aria-label="Loading the site" className="flex flex-col gap-4">
      <div className="skeleton h-14" />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="skeleton h-72" />
        <div className="skeleton h-72" />
      </div>
    </div>
  )
}
