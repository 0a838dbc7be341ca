// What the pages about captures ask of the server, and what they tell it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useChange } from '@/api/mutations'
import { LIVE } from '@/kit/useRepeated'
import type { Capture, LifeEvent, State } from './types'

const CAPTURES = ['captures']
const LIST = [...CAPTURES, 'list']
const one = (id: string) => [...CAPTURES, 'one', id]
const life = (id: string) => [...CAPTURES, 'life', id]
const at = (id: string) => ({ params: { path: { capture_id: id } } })

export type Wanted = { site?: string; state?: State; url?: string }

export function useCaptures(wanted: Wanted, isAllowed: boolean) {
  return useList<Capture>(
    [...LIST, wanted],
    (cursor) => answered(api.GET('/v2/captures', { params: { query: { ...wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

export function useCapture(id: string) {
  return useQuery({
    queryKey: one(id),
    queryFn: () => answered(api.GET('/v2/captures/{capture_id}', at(id))),
    ...LIVE,
  })
}

/** Everything that happened to it, oldest first; also to one that was removed. */
export function useLife(id: string) {
  return useList<LifeEvent>(life(id), (cursor) =>
    answered(
      api.GET('/v2/captures/{capture_id}/audit', {
        params: { path: { capture_id: id }, query: { cursor } },
      }),
    ),
  )
}

export function useRequeue(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (reason: string) =>
      answered(
        api.POST('/v2/captures/{capture_id}/requeue', { body: { reason: reason || null }, ...at(id) }),
      ),
    onSuccess: () => {
      for (const key of [CAPTURES, ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

export function useDeleteCapture(id: string) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: (_: undefined) => answered(api.DELETE('/v2/captures/{capture_id}', at(id))),
    // Not the capture itself: there is nothing left to ask for.
    onSuccess: () => {
      for (const key of [LIST, life(id), ['audit']]) queries.invalidateQueries({ queryKey: key })
    },
  })
}

/** The beginning of a file as text, and whether that is all of it. */
export function useText(id: string, name: string, most: number) {
  return useQuery({
    queryKey: [...one(id), 'text', name, most],
    queryFn: async () => {
      const params = { path: { capture_id: id, name } }
      const bytes = await answered(
        api.GET('/v2/captures/{capture_id}/files/{name}', { params, parseAs: 'blob' }),
      )
      const blob = bytes as unknown as Blob
      return { text: await blob.slice(0, most).text(), isWhole: blob.size <= most }
    },
    // Bytes never change, and need not stay in memory either.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** Saves a file to disk. It is asked for with the token, which must not be in a link, and never shown on this page. */
export function useDownload(id: string) {
  return useChange({
    mutationFn: async (name: string) => {
      const params = { path: { capture_id: id, name } }
      const bytes = await answered(
        api.GET('/v2/captures/{capture_id}/files/{name}', { params, parseAs: 'blob' }),
      )
      save(bytes as unknown as Blob, name)
    },
    gcTime: 0,
  })
}

function save(bytes: Blob, name: string) {
  // Whatever its sender says it is: to this browser it is bytes.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
