// What the organisation allows its runs, and how that is changed.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useChange } from '@/api/mutations'
import type { components } from '@/api/schema'

export type Allowance = components['schemas']['AllowanceOut']
const SETTINGS = ['settings']

export function useAllowance(isAllowed: boolean) {
  return useQuery({
    queryKey: SETTINGS,
    queryFn: () => answered(api.GET('/v2/settings')),
    enabled: isAllowed,
  })
}

export function useAllow() {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (body: Allowance) => answered(api.PUT('/v2/settings', { body })),
    onSuccess: (allowance) => {
      queries.setQueryData(SETTINGS, allowance)
      for (const key of [['runs', 'estimate'], ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}
