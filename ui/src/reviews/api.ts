// What the page of reviews asks of the server, and what it tells it.
import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { ENTITIES, useGraphChange } from '@/entities/api'
import type { Decision, Question } from './types'

const REVIEWS = [...ENTITIES, 'reviews']
const at = (id: string) => ({ params: { path: { review_id: id } } })

/** In the order of what teaches most. It is not asked again by itself: nothing may move under a hand that decides. */
export function useQuestions(kind: string | undefined, isAllowed: boolean) {
  return useList<Question>(
    [...REVIEWS, { kind }],
    (cursor) => answered(api.GET('/v2/entities/reviews', { params: { query: { kind, cursor } } })),
    { enabled: isAllowed },
  )
}

type Pages = InfiniteData<{ items: Question[] }>

/** Takes a question off the list before the server is asked anew, so that the next one is there at once. */
export function useDismiss() {
  const queries = useQueryClient()
  return (id: string) =>
    queries.setQueriesData<Pages>(
      { queryKey: REVIEWS },
      (data) =>
        data && {
          ...data,
          pages: data.pages.map((page) => ({ ...page, items: page.items.filter((one) => one.id !== id) })),
        },
    )
}

export function useDecide() {
  return useGraphChange(({ id, decision }: { id: string; decision: Decision }) =>
    answered(api.POST('/v2/entities/reviews/{review_id}', { body: { decision }, ...at(id) })),
  )
}

export function useReopen() {
  return useGraphChange((id: string) => answered(api.DELETE('/v2/entities/reviews/{review_id}', at(id))))
}
