// What the pages about sessions ask of the server, and what they tell it. Values are never asked for.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import type { Permission } from '@/api/types'
import { LIVE } from '@/kit/useRepeated'
import type { Session, Version } from './types'

/** What it takes to see sessions, their facts and their versions. Entries and every change need `sessions.manage`. */
export const TO_SEE: Permission = 'sessions.view'

const SESSIONS = ['sessions']
const one = (account: string) => [...SESSIONS, 'one', account]
const at = (account: string) => ({ params: { path: { account_id: account } } })

export function useSessions(site: string | undefined, isAllowed: boolean) {
  return useList<Session>(
    [...SESSIONS, 'list', site],
    (cursor) => answered(api.GET('/v2/sessions', { params: { query: { site, cursor } } })),
    { enabled: isAllowed },
  )
}

/** The versions that are kept, newest first: the first is the session as it is now. */
export function useVersions(account: string, isAllowed: boolean) {
  const path = { account_id: account }
  return useList<Version>(
    [...one(account), 'versions'],
    (cursor) =>
      answered(api.GET('/v2/sessions/{account_id}/versions', { params: { path, query: { cursor } } })),
    { enabled: isAllowed },
  )
}

/** The session as it is now, or null where there is none. */
export function useCurrent(account: string, isAllowed: boolean) {
  return useQuery({
    queryKey: [...one(account), 'current'],
    queryFn: async (): Promise<Version | null> => {
      const params = { path: { account_id: account }, query: { limit: 1 } }
      const { items } = await answered(api.GET('/v2/sessions/{account_id}/versions', { params }))
      return items[0] ?? null
    },
    enabled: isAllowed,
    ...LIVE,
  })
}

/** Every entry by name. Asked for anew when there is another version, and not otherwise: it may be long. */
export function useEntries(account: string, version: number, isAllowed: boolean) {
  return useQuery({
    queryKey: [...one(account), 'entries', version],
    queryFn: async () => (await answered(api.GET('/v2/sessions/{account_id}/entries', at(account)))).items,
    enabled: isAllowed,
    placeholderData: (before) => before,
  })
}

function useSessionChange<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: () => {
      for (const key of [SESSIONS, ['accounts'], ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export function useRollBack(account: string) {
  return useSessionChange((version: number) =>
    answered(api.POST('/v2/sessions/{account_id}/rollback', { body: { version }, ...at(account) })),
  )
}

export function useUndo(account: string) {
  return useSessionChange((upload: string) =>
    answered(api.POST('/v2/sessions/{account_id}/undo', { body: { upload_id: upload }, ...at(account) })),
  )
}

export type Decision = 'take' | 'drop'

export function useDecide(account: string, upload: string) {
  const params = { path: { account_id: account, upload_id: upload } }
  return useSessionChange((decision: Decision) =>
    answered(api.POST('/v2/sessions/{account_id}/asides/{upload_id}', { body: { decision }, params })),
  )
}

export function useDeleteSession(account: string) {
  return useSessionChange((_: undefined) => answered(api.DELETE('/v2/sessions/{account_id}', at(account))))
}
