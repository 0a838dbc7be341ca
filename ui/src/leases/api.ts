// What is held right now, and taking it back.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import type { components } from '@/api/schema'

export type Lease = components['schemas']['LeaseOut']
export type Kind = Lease['kind']

const LEASES = ['leases']
const NAMES_EVERY_MS = 15_000

export type Wanted = { kind?: Kind; site?: string; owner?: string }

export function useLeases(wanted: Wanted, isAllowed: boolean) {
  return useList<Lease>(
    [...LEASES, 'list', wanted],
    (cursor) => answered(api.GET('/v2/leases', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

/** The usernames of the accounts that are held, by id: a lease names its resource by id alone. */
export function useHeldNames(isAllowed: boolean): Record<string, string> {
  const { data } = useQuery({
    queryKey: ['accounts', 'held'],
    queryFn: async () => {
      const query = { state: 'using', limit: 500 } as const
      const { items } = await answered(api.GET('/v2/accounts', { params: { query } }))
      return Object.fromEntries(items.map(({ id, username }) => [id, username]))
    },
    enabled: isAllowed,
    refetchInterval: NAMES_EVERY_MS,
  })
  return data ?? {}
}

/** Everything an owner holds, whatever the page is filtered by: that is what revoking takes. */
export function useHoldings(owner: string) {
  return useQuery({
    queryKey: [...LEASES, 'of', owner],
    queryFn: async () => {
      const answer = answered(api.GET('/v2/leases', { params: { query: { owner, limit: 500 } } }))
      const { items, next_cursor } = await answer
      return { items, isWhole: next_cursor === null }
    },
    staleTime: 0,
  })
}

function useRevocation<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: () => {
      for (const known of ['leases', 'accounts', 'sites', 'audit']) {
        queries.invalidateQueries({ queryKey: [known] })
      }
    },
  })
}

export function useRevokeLease() {
  return useRevocation((id: string) =>
    answered(api.DELETE('/v2/leases/{lease_id}', { params: { path: { lease_id: id } } })),
  )
}

export function useRevokeOwner() {
  return useRevocation((owner: string) =>
    answered(api.DELETE('/v2/leases', { params: { query: { owner } } })),
  )
}
