// Lists that are paged by cursor, as one growing list.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

type Page<T> = { items: T[]; next_cursor: string | null }

export type List<T> = {
  items: T[] | undefined
  error: unknown
  isRefreshing: boolean
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  retry: () => void
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
    items,
    error: query.error,
    isRefreshing: query.isFetching,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}
