// What stands in a tab until it is loaded, or when it cannot be.
import type { ReactNode } from 'react'
import { Failure } from '@/kit/states'

type Query<T> = { data: T | undefined; error: unknown; refetch: () => unknown; isFetching: boolean }
type Props<T> = { what: string; query: Query<T>; children: (found: T) => ReactNode }

export function TabBody<T>({ what, query, children }: Props<T>) {
  const { data, error, refetch, isFetching } = query
  return (
    <>
      {error !== null && (
        <div className="p-4">
          <Failure
            what={`${what} could not be ${data === undefined ? 'loaded' : 'refreshed'}.`}
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
            isOld={data !== undefined}
          />
        </div>
      )}
      {data === undefined && error === null && (
        <div role="status" aria-busy="true" aria-label="Loading" className="p-4">
          <div className="skeleton h-24" />
        </div>
      )}
      {data !== undefined && children(data)}
    </>
  )
}
