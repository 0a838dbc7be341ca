// A session's sign-in, flags, counts and writer as the small signs they are everywhere.
import { GitFork, Inbox, LogOut, Weight } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { useSecond } from '@/kit/Countdown'
import { Moment } from '@/kit/Moment'
import { sized } from '@/kit/sizes'
import type { Facts } from './types'

const SOON_MS = 24 * 3_600_000

/** Whether it is signed in, and until when. */
export function SignIn({ facts }: { facts: Facts }) {
  const now = useSecond()
  const left = facts.auth_expires_at ? Date.parse(facts.auth_expires_at) - now : null
  if (!facts.has_auth) {
    return (
      <span
        title="No cookie that the site's auth_markers name is there; without such names nobody can tell."
        className="text-soft"
      >
        not known
      </span>
    )
  }
  if (left === null) return <span title="Its cookies name no end.">no end named</span>
  const ink = left <= 0 ? 'text-bad' : left < SOON_MS ? 'text-warn' : ''
  return (
    <span className={ink}>
      {left <= 0 && 'ended '}
      <Moment at={facts.auth_expires_at} />
    </span>
  )
}

/** What to mind about a session. */
export function Flags({ facts }: { facts: Facts }) {
  const { held, branches, forked, needs_exclusive, heavy_hosts } = facts
  return (
    <>
      {held.length > 0 && (
        <Badge tone="warn" icon={Inbox} title="Uploads that wait for a decision: take or drop them.">
          {held.length} held
        </Badge>
      )}
      {branches.length > 0 && (
        <Badge icon={LogOut} title="Uploads of runs that were logged out; kept, not merged.">
          {branches.length} {branches.length === 1 ? 'branch' : 'branches'}
        </Badge>
      )}
      {needs_exclusive && (
        <Badge
          tone="bad"
          icon={GitFork}
          title={`${forked.length} forked: two leases replaced the same at once. Let one holder at a time use it.`}
        >
          Needs exclusive use
        </Badge>
      )}
      {heavy_hosts.length > 0 && (
        <Badge
          tone="warn"
          icon={Weight}
          title={`The Cookie: header for ${heavy_hosts.join(', ')} is longer than many servers take.`}
        >
          Heavy
        </Badge>
      )}
    </>
  )
}

export function hasFlags({ held, branches, needs_exclusive, heavy_hosts }: Facts): boolean {
  return held.length + branches.length + heavy_hosts.length > 0 || needs_exclusive
}

function counted(count: number, singular: string, plural = `${singular}s`): string {
  return count > 0 ? `${count} ${count === 1 ? singular : plural}` : ''
}

/** `12 cookies, 3 stored keys, 4.2 kB` */
export function contents(facts: Facts): string {
  const parts = [
    counted(facts.cookies, 'cookie'),
    counted(facts.local_storage, 'stored key'),
    counted(facts.databases, 'database'),
    counted(facts.files, 'file'),
  ].filter(Boolean)
  return `${parts.join(', ') || 'empty'}, ${sized(facts.bytes)}`
}

/** Who wrote a version: the holder of the lease, or else the token. */
export function writerOf({ written }: Facts): string {
  return written.owner ?? written.by
}

const HOW: Record<string, string> = {
  merged: 'Upload merged',
  replaced: 'Replaced',
  rolled_back: 'Rolled back',
  undone: 'Upload undone',
  decided: 'Decided on an upload',
}

/** All there is was put aside: no upload made this version. */
export function isPutAside({ written, held, branches }: Facts): boolean {
  return [...held, ...branches].includes(written.upload_id)
}

export function howMade(facts: Facts): string {
  const { written } = facts
  if (isPutAside(facts)) return 'Upload put aside'
  return HOW[written.how] ?? written.how
}
