// Tokens as the server keeps them.
import { useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { signOut } from '@/api/session'
import type { Token, TokenIn } from '@/api/types'

const ALL = ['tokens']

export function useTokens(isAllowed: boolean) {
  return useList<Token>(ALL, (cursor) => answered(api.GET('/v2/tokens', { params: { query: { cursor } } })), {
    enabled: isAllowed,
  })
}

export function useCreateToken(idempotencyKey: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (body: TokenIn) =>
      answered(api.POST('/v2/tokens', { body, params: { header: { 'Idempotency-Key': idempotencyKey } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ALL }),
    // The answer holds the token itself, which is to be shown once and then forgotten.
    gcTime: 0,
  })
}

export function useRevokeToken(isOwn: boolean) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (id: string) =>
      answered(api.DELETE('/v2/tokens/{token_id}', { params: { path: { token_id: id } } })),
    // With one's own token gone there is nothing left to ask with.
    onSuccess: () =>
      isOwn ? signOut('You revoked your token.') : queries.invalidateQueries({ queryKey: ALL }),
  })
}
