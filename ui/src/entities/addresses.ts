// Where an id can be looked up.
import { hrefOf } from './comparing'
import type { Entity } from './types'

/** Pages of people by their id there; of other kinds of things nobody knows the address. */
const PERFORMERS: Record<string, string> = {
  stashdb: 'https://stashdb.org/performers/',
  fansdb: 'https://fansdb.cc/performers/',
  javstash: 'https://javstash.org/performers/',
  pmvstash: 'https://pmvstash.org/performers/',
  theporndb: 'https://theporndb.net/performers/',
  imdb: 'https://www.imdb.com/name/',
}

export function addressOf(entity: Entity, space: string, id: string): string | null {
  // What the records themselves say is better than what we could make up.
  const said = entity.urls[space]?.find((url) => url.toLowerCase().includes(id.toLowerCase()))
  if (said) return hrefOf(said)
  if (space === 'wikidata' && /^Q\d+$/.test(id)) return `https://www.wikidata.org/wiki/${id}`
  const place = entity.kind === 'performer' ? PERFORMERS[space] : undefined
  return place ? place + encodeURIComponent(id) : null
}
