// What the pages about seeds ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { LIVE } from '@/kit/useRepeated'
import type { ImportedSeeds, NewSeed, Seed, SeedChange } from './types'

const SEEDS = ['seeds']
const LIST = [...SEEDS, 'list']
const HISTOGRAM = [...SEEDS, 'histogram']
const one = (id: string) => [...SEEDS, 'one', id]
const at = (id: string) => ({ params: { path: { seed_id: id } } })

export type Wanted = { site?: string; due?: boolean; enabled?: boolean; label?: string }

export function useSeeds({ label, ...wanted }: Wanted, isAllowed: boolean) {
  const query = { ...wanted, label: label ? [label] : [] }
  return useList<Seed>(
    [...LIST, wanted, label],
    (cursor) => answered(api.GET('/v2/seeds', { params: { query: { ...query, cursor } } })),
    { enabled: isAllowed },
  )
}

/** How many are due now, and in each of the next 24 hours. */
export function useHistogram(site: string | undefined, isAllowed: boolean) {
  return useQuery({
    queryKey: [...HISTOGRAM, site],
    queryFn: () => answered(api.GET('/v2/seeds/histogram', { params: { query: { site, hours: 24 } } })),
    enabled: isAllowed,
    ...LIVE,
  })
}

export function useSeed(id: string) {
  return useQuery({
    queryKey: one(id),
    queryFn: () => answered(api.GET('/v2/seeds/{seed_id}', at(id))),
    ...LIVE,
  })
}

const ALL_KEPT = 70

/** How its visits went, the newest first. Asked for again when the seed says that there was another. */
export function useVisits({ id, last_visited_at }: Seed) {
  const query = useQuery({
    queryKey: [...SEEDS, 'visits', id],
    queryFn: () => {
      const params = { path: { seed_id: id }, query: { limit: ALL_KEPT } }
      return answered(api.GET('/v2/seeds/{seed_id}/visits', { params }))
    },
  })
  const { refetch } = query
  const seen = useRef(last_visited_at)
  useEffect(() => {
    if (seen.current === last_visited_at) return
    seen.current = last_visited_at
    refetch()
  }, [last_visited_at, refetch])
  return query
}

export function useAddSeed(idempotencyKey: string) {
  const queries = useQueryClient()
  const header = { 'Idempotency-Key': idempotencyKey }
  return useChange({
    mutationFn: (seed: NewSeed) =>
      answered(api.POST('/v2/seeds', { body: { items: [seed] }, params: { header } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: SEEDS }),
  })
}

export type SeedFile = { kind: string; body: string | Uint8Array<ArrayBuffer>; site: string }

export function useImportSeeds() {
  const queries = useQueryClient()
  return useChange({
    mutationFn: ({ kind, body, site }: SeedFile): Promise<ImportedSeeds> =>
      answered(
        api.POST('/v2/seeds/import', {
          params: { query: { site: site || undefined } },
          // It goes as it is; only its type says how to read it.
          body: body as never,
          bodySerializer: () => body,
          headers: { 'Content-Type': kind },
        }),
      ),
    onSuccess: () => {
      for (const key of [SEEDS, ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export function useChangeSeed(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (body: SeedChange) => answered(api.PATCH('/v2/seeds/{seed_id}', { body, ...at(id) })),
    onSuccess: () => {
      for (const key of [SEEDS, ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export function useDeleteSeed(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (_: undefined) => answered(api.DELETE('/v2/seeds/{seed_id}', at(id))),
    // Not the seed itself: there is nothing left to ask for.
    onSuccess: () => {
      for (const key of [LIST, HISTOGRAM, ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}
