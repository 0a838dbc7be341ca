// The token of this session and what it may do, for controls that say why they are disabled.
import { useQuery } from '@tanstack/react-query'
import { answered, api } from './client'
import { useSession } from './session'
import type { Permission, Token } from './types'

export function useWho() {
  const { token } = useSession()
  return useQuery({
    queryKey: ['who'],
    queryFn: (): Promise<Token> => answered(api.GET('/v2/tokens/self')),
    staleTime: 60_000,
    enabled: token !== null,
  })
}

/** Why the token may not do this, or null when it may. Until the answer is here, the server decides. */
export function useObjection(needed: Permission | undefined): string | null {
  const who = useWho()
  if (!needed || !who.data || who.data.permissions.includes(needed)) return null
  return `This token lacks the permission ${needed}.`
}
