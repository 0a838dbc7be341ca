// What the pages about entities ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import type { paths } from '@/api/schema'
import { LIVE } from '@/kit/useRepeated'
import type { Change, Entity, Epoch } from './types'

export const ENTITIES = ['entities']
const one = (id: string) => [...ENTITIES, 'one', id]
const at = (id: string) => ({ params: { path: { entity_id: id } } })

const CHANGES_AT_ONCE = 100
const MOVING_MS = 1_000

export type Wanted = { kind?: string; q?: string }

export function useEntities(wanted: Wanted, isAllowed = true) {
  return useList<Entity>(
    [...ENTITIES, 'list', wanted],
    (cursor) => answered(api.GET('/v2/entities', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

/** A few to choose from. */
export function useSome(wanted: Wanted, limit: number) {
  return useQuery({
    queryKey: [...ENTITIES, 'some', wanted, limit],
    queryFn: async () =>
      (await answered(api.GET('/v2/entities', { params: { query: { ...wanted, limit } } }))).items,
    enabled: wanted.q !== undefined,
    placeholderData: (before) => before,
  })
}

export function useEntity(id: string) {
  return useQuery({
    queryKey: one(id),
    queryFn: () => answered(api.GET('/v2/entities/{entity_id}', at(id))),
    enabled: id !== '',
    ...LIVE,
  })
}

export function useEvidence(id: string) {
  return useQuery({
    queryKey: [...one(id), 'evidence'],
    queryFn: () => answered(api.GET('/v2/entities/{entity_id}/evidence', at(id))),
    ...LIVE,
  })
}

/** What became of it, oldest first. The feed goes on from a number, which does as a cursor. */
export function useHistory(id: string) {
  return useList<Change>([...one(id), 'changes'], async (cursor) => {
    const query = { entity: id, since: Number(cursor ?? 0), limit: CHANGES_AT_ONCE }
    const { items } = await answered(api.GET('/v2/entities/changes', { params: { query } }))
    const last = items.length === CHANGES_AT_ONCE ? items.at(-1) : undefined
    return { items, next_cursor: last ? String(last.seq) : null }
  })
}

export function useWhy(a: string, b: string) {
  return useQuery({
    queryKey: [...ENTITIES, 'why', a, b],
    queryFn: () => answered(api.GET('/v2/entities/why', { params: { query: { a, b } } })),
    enabled: a !== '' && b !== '' && a !== b,
  })
}

export function useStats(isAllowed = true) {
  return useQuery({
    queryKey: [...ENTITIES, 'stats'],
    queryFn: () => answered(api.GET('/v2/entities/stats')),
    enabled: isAllowed,
    ...LIVE,
  })
}

type Letters = paths['/v2/entities/dead-letters']['get']['responses']['200']['content']['application/json']

export function useRecordLetters() {
  return useList<Letters['items'][number]>([...ENTITIES, 'letters'], (cursor) =>
    answered(api.GET('/v2/entities/dead-letters', { params: { query: { cursor, limit: 20 } } })),
  )
}

export function useEpochs(isAllowed = true) {
  return useQuery({
    queryKey: [...ENTITIES, 'epochs'],
    queryFn: async () => (await answered(api.GET('/v2/entities/epochs'))).items as Epoch[],
    enabled: isAllowed,
    ...LIVE,
    refetchInterval: ({ state }) =>
      LIVE.refetchInterval() && state.data?.some((epoch) => epoch.state === 'moving')
        ? MOVING_MS
        : LIVE.refetchInterval(),
  })
}

/** The kinds there are; each has weights of its own. */
export function useKinds(isAllowed = true): string[] {
  const { data } = useEpochs(isAllowed)
  return [...new Set(data?.map((epoch) => epoch.kind))].sort()
}

/** A change after which any entity may be another. */
export function useGraphChange<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: () => {
      for (const key of [ENTITIES, ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export function useMerge() {
  return useGraphChange((body: { keep: string; merge: string }) =>
    answered(api.POST('/v2/entities/merge', { body })),
  )
}

export function useSplit(id: string) {
  return useGraphChange((record_ids: string[]) =>
    answered(api.POST('/v2/entities/{entity_id}/split', { body: { record_ids }, ...at(id) })),
  )
}

export function useErase(id: string) {
  return useGraphChange((_: undefined) => answered(api.DELETE('/v2/entities/{entity_id}', at(id))))
}

export function usePropose() {
  return useGraphChange((kind: string) =>
    answered(api.POST('/v2/entities/epochs', { body: { kind, learned: true } })),
  )
}

export function useForce({ kind, number }: { kind: string; number: number }) {
  return useGraphChange((_: undefined) =>
    answered(api.POST('/v2/entities/epochs/{kind}/{number}/current', { params: { path: { kind, number } } })),
  )
}
