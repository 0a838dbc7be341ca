// Lists that are paged by cursor, as one growing list.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

type Page<T> = { items: T[]; next_cursor: string | null }

export type List<T> = {
  /** Which question it answers: another one has other rows. */
  of: string
  items: T[] | undefined
  error: unknown
  isRefreshing: boolean
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  retry: () => void
  /** While its rows are in hand: how many came that are not shown, and the way to see them. */
  held?: { news: number; show: () => void }
}

type Whole<T> = { data: T[] | undefined; error: unknown; isFetching: boolean; refetch: () => unknown }

/** A list that comes whole, so that it can stand where paged ones do. */
export function whole<T>({ data, error, isFetching, refetch }: Whole<T>): List<T> {
  return {
    ...{ of: '', items: data, error, isRefreshing: isFetching },
    ...{ hasMore: false, isLoadingMore: false, loadMore: () => {} },
    retry: () => void refetch(),
  }
}

type Options = { enabled?: boolean }

export function useList<T>(
  key: QueryKey,
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
  { enabled = true }: Options = {},
): List<T> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    enabled,
  })
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data])
  return {
    of: JSON.stringify(key),
    items,
    error: query.error,
    isRefreshing: query.isFetching,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}
