// A merge is taken back by a split, and a split by merges.
import { answered, api } from '@/api/client'
import type { Done } from './UndoBanner'

export async function takeBack(id: string, done: Done): Promise<Done> {
  if (done.act === 'merged') {
    const { items } = await answered(
      api.POST('/v2/entities/{entity_id}/split', {
        params: { path: { entity_id: id } },
        body: { record_ids: done.other.records.map((record) => record.id) },
      }),
    )
    const others = items.filter((one) => one.id !== id)
    return { act: 'undone', words: 'Undone. It is an entity of its own again:', others }
  }
  if (done.act === 'split') {
    for (const { id: merge } of done.others) {
      await answered(api.POST('/v2/entities/merge', { body: { keep: id, merge } }))
    }
    return { act: 'undone', words: 'Undone. Its records are all here again.', others: [] }
  }
  return done
}
