// What the pages about accounts ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { LIVE } from '@/kit/useRepeated'
import type { Account, AccountChange, Imported, NewAccount, PastLease, State } from './types'

const ACCOUNTS = ['accounts']
const LIST = [...ACCOUNTS, 'list']
const STATS = [...ACCOUNTS, 'stats']
const one = (id: string) => [...ACCOUNTS, 'one', id]
const at = (id: string) => ({ params: { path: { account_id: id } } })

export type Wanted = { site?: string; state?: State; label?: string; q?: string }

export function useAccounts({ label, ...wanted }: Wanted, isAllowed: boolean) {
  const query = { ...wanted, label: label ? [label] : [] }
  return useList<Account>(
    [...LIST, wanted, label],
    (cursor) => answered(api.GET('/v2/accounts', { params: { query: { ...query, cursor } } })),
    { enabled: isAllowed },
  )
}

export function useStats(isAllowed: boolean) {
  return useQuery({
    queryKey: STATS,
    queryFn: () => answered(api.GET('/v2/accounts/stats')),
    enabled: isAllowed,
    ...LIVE,
  })
}

export function useAccount(id: string) {
  return useQuery({
    queryKey: one(id),
    queryFn: () => answered(api.GET('/v2/accounts/{account_id}', at(id))),
    ...LIVE,
  })
}

export function usePastLeases(id: string) {
  return useList<PastLease>([...one(id), 'leases'], (cursor) =>
    answered(
      api.GET('/v2/accounts/{account_id}/leases', {
        params: { path: { account_id: id }, query: { cursor } },
      }),
    ),
  )
}

/** The names of all sites, to choose one from. */
export function useSlugs() {
  return useQuery({
    queryKey: ['sites', 'slugs'],
    queryFn: async () => {
      const page = await answered(api.GET('/v2/sites', { params: { query: { limit: 500 } } }))
      return { slugs: page.items.map((site) => site.slug), isWhole: page.next_cursor === null }
    },
    staleTime: 60_000,
  })
}

/** A change after which counts, lists and explanations are asked for again. */
function useAccountChange<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: () => {
      queries.invalidateQueries({ queryKey: ACCOUNTS })
      queries.invalidateQueries({ queryKey: ['sites'] })
      queries.invalidateQueries({ queryKey: ['audit'] })
    },
    // What is sent may hold a secret, which must not outlive its dialog.
    gcTime: 0,
  })
}

export function useCreateAccount(idempotencyKey: string) {
  const header = { 'Idempotency-Key': idempotencyKey }
  return useAccountChange((body: NewAccount) =>
    answered(api.POST('/v2/accounts', { body, params: { header } })),
  )
}

export function useChangeAccount(id: string) {
  return useAccountChange((body: AccountChange) =>
    answered(api.PATCH('/v2/accounts/{account_id}', { body, ...at(id) })),
  )
}

export function useDeleteAccount(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (_: undefined) => answered(api.DELETE('/v2/accounts/{account_id}', at(id))),
    // Not the account itself: there is nothing left to ask for.
    onSuccess: () => {
      for (const key of [LIST, STATS, ['sites']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export type ImportKind = 'text/csv' | 'application/x-ndjson' | 'application/json'

export function useImport() {
  return useAccountChange(
    ({ kind, body }: { kind: ImportKind; body: string }): Promise<Imported> =>
      answered(
        api.POST('/v2/accounts/import', {
          // The text goes as it is; only its type says how to read it.
          body: body as never,
          bodySerializer: () => body,
          headers: { 'Content-Type': kind },
        }),
      ),
  )
}

/** The secret lives in the dialog that shows it and nowhere else: no query, so no cache to linger in. */
export function useReveal(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: async (_: undefined) =>
      (await answered(api.POST('/v2/accounts/{account_id}/reveal', at(id)))).secret,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['audit'] }),
    gcTime: 0,
  })
}
