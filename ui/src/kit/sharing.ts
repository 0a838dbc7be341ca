// An address for somebody else, or for later: what was relative to now and to me is written out in it.
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `15m`, `2h`, `1d` in milliseconds; undefined for anything else. */
export function spanMs(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  return number && unit ? Number(number) * (UNITS[unit] ?? 0) : undefined
}

/** A moment as it stands in an address; undefined for what is none. */
export function momentMs(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

export function asMoment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

export function shareable(address: string, now: number, me: string | undefined): string {
  const url = new URL(address)
  const search = url.searchParams
  const [span, age] = [spanMs(search.get('tw') ?? ''), spanMs(search.get('age') ?? '')]
  if (span) {
    search.delete('tw')
    search.set('from', asMoment(now - span))
    search.set('to', asMoment(now))
  }
  if (age) {
    search.delete('age')
    search.set('before', asMoment(now - age))
  }
  if (me && search.get('by') === 'me') search.set('by', me)
  return url.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
}
