// What the process that answers is and does.
import { useQuery } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import type { components } from '@/api/schema'
import { LIVE } from '@/kit/useRepeated'

export type System = components['schemas']['SystemOut']
export type BackgroundTask = components['schemas']['BackgroundTaskOut']
export type Alert = components['schemas']['AlertOut']

export function useSystem(isAllowed: boolean) {
  return useQuery({
    queryKey: ['system'],
    queryFn: () => answered(api.GET('/v2/system')),
    enabled: isAllowed,
    ...LIVE,
  })
}
