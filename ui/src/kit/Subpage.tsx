// The page of one thing: the way back to its list, and what stands there while it loads, when it failed, and when it is not there.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { Problem } from '@/api/problems'
import { Page, Panel } from './Panel'
import { Empty, Failure } from './states'
import { Url } from './Url'

type HeadingProps = { list: string; to: string; name: string; children?: ReactNode }

export function Heading({ list, to, name, children }: HeadingProps) {
  return (
    <>
      <Link to={to} className="rounded text-xs text-soft hover:text-ink hover:underline">
        {list}
      </Link>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-xl/8 font-semibold tracking-tight [overflow-wrap:anywhere]">
          <Url text={name} />
        </h1>
        {children}
      </div>
    </>
  )
}

type Query<T> = { data: T | undefined; error: unknown; refetch: () => unknown; isFetching: boolean }

type SubpageProps<T> = {
  noun: string
  list: string
  to: string
  query: Query<T>
  /** What can still be said of one that is not there. */
  afterlife?: ReactNode
  children: (found: T, failure: ReactNode) => ReactNode
}

export function Subpage<T>({ noun, list, to, query, afterlife, children }: SubpageProps<T>) {
  const { data, error, refetch, isFetching } = query
  const failed = (what: string, isOld: boolean) => (
    <Failure what={what} error={error} onRetry={refetch} isRetrying={isFetching} isOld={isOld} />
  )
  const isUnknown = error instanceof Problem && error.status === 404
  if (data !== undefined && !isUnknown) {
    return children(data, error ? failed(`The ${noun} could not be refreshed.`, true) : null)
  }
  const title = noun.charAt(0).toUpperCase() + noun.slice(1)
  return (
    <Page title={title} heading={<Heading list={list} to={to} name={title} />}>
      {isUnknown && <Unknown noun={noun} list={list} to={to} />}
      {isUnknown && afterlife}
      {!isUnknown && (error ? failed(`The ${noun} could not be loaded.`, false) : <Skeleton noun={noun} />)}
    </Page>
  )
}

function Unknown({ noun, list, to }: { noun: string; list: string; to: string }) {
  return (
    <Panel>
      <Empty
        title={`There is no such ${noun}`}
        action={
          <Link to={to} className="text-accent underline">
            See all {list.toLowerCase()}
          </Link>
        }
      >
        It was deleted, belongs to another organisation, or never was.
      </Empty>
    </Panel>
  )
}

function Skeleton({ noun }: { noun: string }) {
  return (
    <div aria-busy="true" role="status" aria-label={`Loading the ${noun}`} className="flex flex-col gap-4">
      <div className="skeleton h-14" />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="skeleton h-72" />
        <div className="skeleton h-72" />
      </div>
    </div>
  )
}

/** The main column and, beside it where there is room, the facts. */
export function Columns({ main, side }: { main: ReactNode; side: ReactNode }) {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex min-w-0 flex-col gap-4">{main}</div>
      <div className="flex min-w-0 flex-col gap-4">{side}</div>
    </div>
  )
}
