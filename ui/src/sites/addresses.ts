// Addresses as people type them and as the server takes them.
import { Problem } from '@/api/problems'
import type { Mount, MountIn } from '@/api/types'
import { typedNumber } from '@/kit/typedNumber'

/** An address in the making; everything is still text. */
export type MountDraft = {
  host: string
  scheme: 'http' | 'https'
  port: string
  prefix: string
  subdomains: 'keep' | 'none'
  fold: string
}

export const EMPTY_MOUNT: MountDraft = {
  host: '',
  scheme: 'https',
  port: '',
  prefix: '/',
  subdomains: 'keep',
  fold: 'www',
}

export function draftOf(mount: Mount): MountDraft {
  return {
    host: mount.host,
    scheme: mount.scheme === 'http' ? 'http' : 'https',
    port: mount.port === null ? '' : String(mount.port),
    prefix: mount.prefix,
    subdomains: mount.subdomains === 'none' ? 'none' : 'keep',
    fold: mount.fold.join(', '),
  }
}

/** Whether a host says it all, so that the advanced fields can stay shut. */
export function isPlain(draft: MountDraft): boolean {
  const { host: _, ...rest } = draft
  return Object.entries(rest).every(([key, value]) => EMPTY_MOUNT[key as keyof MountDraft] === value)
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** What the server is sent: the host alone when that is all there is to say. */
export function addressOf(draft: MountDraft): string | MountIn {
  const host = draft.host.trim()
  if (isPlain(draft)) return host
  return {
    host,
    scheme: draft.scheme,
    port: typedNumber(draft.port),
    prefix: draft.prefix.trim() || '/',
    subdomains: draft.subdomains,
    fold: words(draft.fold),
  }
}

/** The draft with this host; a pasted URL is taken apart into the fields it is made of. */
export function withHost(draft: MountDraft, text: string): MountDraft {
  const url = /^https?:\/\//i.test(text.trim()) ? URL.parse(text.trim()) : null
  if (!url) return { ...draft, host: text }
  const scheme = url.protocol === 'http:' ? 'http' : 'https'
  return { ...draft, host: url.hostname, scheme, port: url.port, prefix: url.pathname }
}

export function addressText(mount: Pick<Mount, 'scheme' | 'host' | 'port' | 'prefix'>): string {
  return `${mount.scheme}://${mount.host}${mount.port ? `:${mount.port}` : ''}${mount.prefix}`
}

/** An address as one says it: without what goes without saying. */
export function shortAddress(address: string): string {
  return address.replace(/^https:\/\//, '').replace(/\/$/, '')
}

/** URLs that show what becomes of an address: its root, a page on it, and a host below it if those are the site's. */
export function sampleUrls(mount: Mount): string[] {
  const root = addressText(mount)
  const below = mount.subdomains === 'keep' ? [addressText({ ...mount, host: `img.${mount.host}` })] : []
  return [root, `${root}some/page?id=1`, ...below]
}

// The server's reasons for refusing an address (`/problems/address-refused`), as something one can act on.
const REFUSALS: Record<string, string> = {
  'host-syntax': 'This is not a host name. Give the bare name, such as board.example.',
  'ip-literal': 'An IP address cannot be the address of a site; give a name.',
  'single-label': 'A name without a dot is not on the public web.',
  'public-suffix': 'This suffix is shared by many owners; name the host below it.',
  'special-use': 'This name is reserved for special use and never on the public web.',
  'dns-length': 'The name is longer than DNS allows.',
  'prefix-syntax': 'This is not a path. It begins and ends with a slash.',
  query: 'A prefix is a path and cannot hold a question mark.',
  fragment: 'A prefix is a path and cannot hold a number sign.',
}
const ABOUT_PREFIX = ['prefix-syntax', 'query', 'fragment']

type Refusal = { field: 'host' | 'prefix'; text: string }

/** Which field a refused address is about and what to say there; null when it was refused for something else. */
export function addressRefusal(error: unknown): Refusal | null {
  if (!(error instanceof Problem) || !error.is('address-refused')) return null
  const reason = error.member('reason') ?? ''
  return { field: ABOUT_PREFIX.includes(reason) ? 'prefix' : 'host', text: REFUSALS[reason] ?? error.message }
}
