// What the pages about platforms ask of the server, and what they tell it.
import { useQueries, useQuery } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import type { AuditEvent } from '@/api/types'
import { useJobChange } from '@/jobs/api'
import { LIVE } from '@/kit/useRepeated'
import type { LimitsWish, NewLimits, Phase } from './types'

const PLATFORMS = ['platforms']
const at = (slug: string) => ({ params: { path: { platform_slug: slug } } })

export function usePlatforms(isAllowed = true) {
  return useQuery({
    queryKey: [...PLATFORMS, 'list'],
    queryFn: async () => (await answered(api.GET('/v2/platforms'))).items,
    enabled: isAllowed,
    ...LIVE,
  })
}

function one(slug: string) {
  return {
    queryKey: [...PLATFORMS, 'one', slug],
    queryFn: () => answered(api.GET('/v2/platforms/{platform_slug}', at(slug))),
    enabled: slug !== '',
    ...LIVE,
  }
}

export function usePlatform(slug: string) {
  return useQuery(one(slug))
}

/** Several of them, each with its types. */
export function useThese(slugs: string[]) {
  return useQueries({ queries: slugs.map(one) })
}

/** What was done to a platform, and what its breaker did by itself; newest first. */
export function useRecent(slug: string, isAllowed: boolean) {
  return useList<AuditEvent>(
    ['audit', slug, 'recent'],
    (cursor) => answered(api.GET('/v2/audit', { params: { query: { subject: slug, cursor, limit: 10 } } })),
    { enabled: isAllowed },
  )
}

/** Which results are compared: from a time on, or all of them where it is null. */
export type Comparison = { since: string | null; asked: number }

/** Whether both places hold the same. It reads all of them, so it is done when somebody asks, and not again by itself. */
export function useParity(slug: string, comparison: Comparison | null) {
  const query = comparison?.since ? { since: comparison.since } : {}
  return useQuery({
    queryKey: ['parity', slug, comparison],
    queryFn: () =>
      answered(
        api.GET('/v2/platforms/{platform_slug}/parity', {
          params: { path: { platform_slug: slug }, query },
        }),
      ),
    enabled: comparison !== null,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
}

export type Move = { phase: Phase; override: string | null }

export function useMove(slug: string) {
  return useJobChange((body: Move) =>
    answered(api.POST('/v2/platforms/{platform_slug}/phase', { body, ...at(slug) })),
  )
}

export function useReplayShadow(slug: string) {
  return useJobChange((since: string | null) =>
    answered(api.POST('/v2/platforms/{platform_slug}/shadow/replay', { body: { since }, ...at(slug) })),
  )
}

export function usePause(slug: string) {
  return useJobChange((reason: string) =>
    answered(
      api.POST('/v2/platforms/{platform_slug}/pause', { body: { reason: reason || null }, ...at(slug) }),
    ),
  )
}

/** What other limits would do at once; asked again while somebody looks at it, because what waits goes on. */
export function useLimitsPreview(slug: string, wish: LimitsWish | null) {
  return useQuery({
    queryKey: [...PLATFORMS, 'limits', slug, wish],
    queryFn: () =>
      answered(api.POST('/v2/platforms/{platform_slug}/limits/preview', { body: wish ?? {}, ...at(slug) })),
    enabled: wish !== null,
    placeholderData: (before) => before,
    retry: false,
    refetchInterval: 5000,
  })
}

export function useChangeLimits(slug: string) {
  return useJobChange((body: NewLimits) =>
    answered(api.PUT('/v2/platforms/{platform_slug}/limits', { body, ...at(slug) })),
  )
}

export function useRestoreLimits(slug: string) {
  return useJobChange((_: undefined) =>
    answered(api.DELETE('/v2/platforms/{platform_slug}/limits', at(slug))),
  )
}

export function useResume(slug: string) {
  return useJobChange((_: undefined) => answered(api.POST('/v2/platforms/{platform_slug}/resume', at(slug))))
}
