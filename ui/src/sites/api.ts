// What the pages about sites ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import type { MoveIn, NewSite, Rewritten, Site, SiteChange } from '@/api/types'
import { LIVE } from '@/kit/useRepeated'

const ALL = ['sites']
const LIST = [...ALL, 'list']
const one = (slug: string) => [...ALL, 'one', slug]
const at = (slug: string) => ({ params: { path: { slug } } })

export function useSites(isAllowed = true) {
  return useList<Site>(LIST, (cursor) => answered(api.GET('/v2/sites', { params: { query: { cursor } } })), {
    enabled: isAllowed,
  })
}

export function useSite(slug: string) {
  return useQuery({ queryKey: one(slug), queryFn: () => answered(api.GET('/v2/sites/{slug}', at(slug))) })
}

export function useExplanation(slug: string) {
  return useQuery({
    queryKey: [...one(slug), 'explain'],
    queryFn: () => answered(api.GET('/v2/sites/{slug}/explain', at(slug))),
    ...LIVE,
  })
}

export function useMoves(slug: string) {
  // The longest page there is: the time line wants the whole story, and sites move seldom.
  const params = { path: { slug }, query: { limit: 500 } }
  return useQuery({
    queryKey: [...one(slug), 'moves'],
    queryFn: () => answered(api.GET('/v2/sites/{slug}/moves', { params })),
  })
}

/** How URLs are written now. `epoch` asks anew after a move. */
export function useRewritten(urls: string[], epoch: number) {
  return useQuery({
    queryKey: [...ALL, 'rewrite', epoch, urls],
    queryFn: async () => (await answered(api.POST('/v2/sites/rewrite', { body: { urls } }))).items,
    enabled: urls.length > 0,
    placeholderData: (before) => (urls.length > 0 ? before : undefined),
  })
}

export function useCreateSite(idempotencyKey: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (body: NewSite) =>
      answered(api.POST('/v2/sites', { body, params: { header: { 'Idempotency-Key': idempotencyKey } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: LIST }),
  })
}

export function useDeleteSite(slug: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: () => answered(api.DELETE('/v2/sites/{slug}', at(slug))),
    onSuccess: () => queries.invalidateQueries({ queryKey: LIST }),
  })
}

/** A change to a site, after which everything known about sites is asked for again. */
function useSiteChange<Wish, Answer>(tell: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient()
  return useChange({ mutationFn: tell, onSuccess: () => queries.invalidateQueries({ queryKey: ALL }) })
}

export function useChangeSite(slug: string) {
  return useSiteChange((body: SiteChange) => answered(api.PATCH('/v2/sites/{slug}', { body, ...at(slug) })))
}

export function useMoveSite(slug: string) {
  return useSiteChange((wish: MoveIn) =>
    answered(api.POST('/v2/sites/{slug}/moves', { body: { ...wish, dry_run: false }, ...at(slug) })),
  )
}

/** The same answer as a move, with nothing changed. */
function tryMove(slug: string, wish: MoveIn) {
  return answered(api.POST('/v2/sites/{slug}/moves', { body: { ...wish, dry_run: true }, ...at(slug) }))
}

export function usePreview(slug: string) {
  return useChange({ mutationFn: (wish: MoveIn) => tryMove(slug, wish) })
}

/** How URLs would be written after the move; `first` came with the preview and is not asked for again. */
export function useSample(slug: string, wish: MoveIn, urls: string[], first: Rewritten[]) {
  const isFirst = urls.length === first.length && first.every(({ input }, index) => input === urls[index])
  return useQuery({
    // Not among what is asked for again once a site has moved: by then it is no longer a preview.
    queryKey: ['sample', slug, wish, urls],
    queryFn: async () => (await tryMove(slug, { ...wish, urls })).sample,
    enabled: urls.length > 0,
    initialData: isFirst ? first : undefined,
    placeholderData: (before) => (urls.length > 0 ? before : undefined),
    gcTime: 0,
  })
}

export function usePauseSite(slug: string) {
  return useSiteChange((reason: string) =>
    answered(api.POST('/v2/sites/{slug}/pause', { body: reason ? { reason } : {}, ...at(slug) })),
  )
}

export function useResumeSite(slug: string) {
  return useSiteChange((_: undefined) => answered(api.POST('/v2/sites/{slug}/resume', at(slug))))
}
