// How everything stands, asked for in one request.
import { useQuery } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import type { components } from '@/api/schema'
import { LIVE } from '@/kit/useRepeated'

type Schemas = components['schemas']
export type Overview = Schemas['OverviewOut']
export type Flow = Schemas['FlowOut']
export type Spend = Schemas['SpendOut']
export type Strip = Schemas['StripOut']
export type Concern = Schemas['ConcernOut']
export type Matter = Schemas['Matter']

const SELDOM_MS = 30_000

export function useOverview(hours: number) {
  return useQuery({
    queryKey: ['overview', hours],
    queryFn: () => answered(api.GET('/v2/overview', { params: { query: { hours } } })),
    placeholderData: (before) => before,
    ...LIVE,
  })
}

/** For the navigation: the same answer, asked for seldom. */
export function useConcerns() {
  return useQuery({
    queryKey: ['overview', 1],
    queryFn: () => answered(api.GET('/v2/overview', { params: { query: { hours: 1 } } })),
    select: ({ concerns }) => concerns,
    staleTime: SELDOM_MS,
    refetchInterval: () => LIVE.refetchInterval() && SELDOM_MS,
  })
}
