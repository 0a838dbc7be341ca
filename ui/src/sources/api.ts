// What the page of sources asks of the server, and what it tells it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { LIVE } from '@/kit/useRepeated'
import { sourcesApi } from './paths'
import { isBusy } from './states'
import type { Letter, Source } from './types'

const SOURCES = ['sources']
const SWEEPING_MS = 1_500
const at = (name: string) => ({ params: { path: { source_name: name } } })

export function useSources(isAllowed: boolean) {
  return useQuery({
    queryKey: [...SOURCES, 'list'],
    queryFn: async () => (await answered(sourcesApi.GET('/v2/sources'))).items,
    enabled: isAllowed,
    ...LIVE,
    refetchInterval: ({ state }) =>
      LIVE.refetchInterval() && !document.hidden && state.data?.some(isBusy)
        ? SWEEPING_MS
        : LIVE.refetchInterval(),
  })
}

export function useLetters(name: string) {
  return useList<Letter>([...SOURCES, 'letters', name], (cursor) =>
    answered(
      sourcesApi.GET('/v2/sources/{source_name}/dead-letters', {
        params: { path: { source_name: name }, query: { limit: 20, cursor } },
      }),
    ),
  )
}

/** The answer is how the source stands now: it is shown at once. */
function useSourceChange<Wish>(tell: (wish: Wish) => Promise<Source>) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: tell,
    onSuccess: (now: Source) => {
      queries.setQueryData<Source[]>([...SOURCES, 'list'], (before) =>
        before?.map((one) => (one.name === now.name ? now : one)),
      )
      queries.invalidateQueries({ queryKey: SOURCES })
    },
  })
}

export function useStart(name: string) {
  return useSourceChange((full: boolean) =>
    answered(sourcesApi.POST('/v2/sources/{source_name}/start', { body: { full }, ...at(name) })),
  )
}

export function useStop(name: string) {
  return useSourceChange((_: undefined) =>
    answered(sourcesApi.POST('/v2/sources/{source_name}/stop', at(name))),
  )
}
