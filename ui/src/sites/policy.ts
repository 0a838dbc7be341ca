// The policy of a site as a form: what each field means, its unit and its default, and the way from text and back.
import type { Policy, SiteChange } from '@/api/types'
import { typedNumber } from '@/kit/typedNumber'

type NumberKey = Exclude<keyof Policy, 'auth_markers'>
type Entry = {
  key: NumberKey
  label: string
  unit?: string
  means: string
  usual: number | null
  /** What it means when nothing is set. */
  unset?: string
}
type Group = { title: string; entries: Entry[] }

export const GROUPS: Group[] = [
  {
    title: 'Accounts',
    entries: [
      {
        key: 'max_concurrent_accounts',
        label: 'Accounts at once',
        means: 'Accounts in use at the same time.',
        usual: null,
      },
      {
        key: 'cooldown_seconds',
        label: 'Cool-down',
        unit: 's',
        means: 'Rest of an account after each use.',
        usual: 0,
      },
      {
        key: 'reclaim_delay_seconds',
        label: 'Reclaim delay',
        unit: 's',
        means: 'Rest after a lease ended unclean.',
        usual: 15,
      },
      {
        key: 'quarantine_after_unclean',
        label: 'Quarantine after',
        unit: 'ends',
        means: 'Unclean ends before an account is set aside.',
        usual: 3,
      },
      {
        key: 'probation_after_seconds',
        label: 'Probation after',
        unit: 's',
        means: 'When a blocked account is tried again by itself.',
        usual: null,
        unset: 'never',
      },
    ],
  },
  {
    title: 'Breaker',
    entries: [
      {
        key: 'breaker_percent',
        label: 'Failing share',
        unit: '%',
        means: 'Share of failing accounts that pauses the site.',
        usual: 60,
      },
      {
        key: 'breaker_min_accounts',
        label: 'Judged from',
        unit: 'accounts',
        means: 'Accounts it takes to judge that share.',
        usual: 5,
      },
      {
        key: 'breaker_window_seconds',
        label: 'Window',
        unit: 's',
        means: 'How long a failure counts.',
        usual: 600,
      },
    ],
  },
  {
    title: 'Seeds',
    entries: [
      {
        key: 'seed_concurrency',
        label: 'Seeds at once',
        means: 'Seeds visited at the same time.',
        usual: null,
      },
      {
        key: 'min_interval_ms',
        label: 'Interval',
        unit: 'ms',
        means: 'Least time between two seeds handed out.',
        usual: 0,
      },
    ],
  },
]

export const MARKERS = {
  label: 'Signed-in cookies',
  means: 'Names of cookies that show somebody is signed in, one per line.',
}

export type PolicyDraft = Record<keyof Policy, string>

const ENTRIES = GROUPS.flatMap((group) => group.entries)

export const USUAL_POLICY: PolicyDraft = {
  ...(Object.fromEntries(ENTRIES.map(({ key, usual }) => [key, usual?.toString() ?? ''])) as Record<
    NumberKey,
    string
  >),
  auth_markers: '',
}

export function policyDraft(policy: Policy): PolicyDraft {
  const numbers = ENTRIES.map(({ key }) => [key, policy[key]?.toString() ?? ''])
  return { ...Object.fromEntries(numbers), auth_markers: policy.auth_markers.join('\n') }
}

/** What differs between two drafts, as the server takes it: only that is sent, so only that is changed. */
export function policyChange(before: PolicyDraft, after: PolicyDraft): NonNullable<SiteChange['policy']> {
  const changed = ENTRIES.filter(({ key }) => before[key] !== after[key])
  const numbers = changed.map(({ key }) => [key, typedNumber(after[key])])
  const markers = after.auth_markers.split('\n').map((line) => line.trim())
  return {
    ...Object.fromEntries(numbers),
    ...(before.auth_markers === after.auth_markers ? {} : { auth_markers: markers.filter(Boolean) }),
  }
}

export const POLICY_POINTERS = [...ENTRIES.map(({ key }) => `/policy/${key}`), '/policy/auth_markers']

export function unsetText(entry: Entry): string {
  return entry.unset ?? 'no limit'
}

export function usually(entry: Entry): string {
  return entry.usual === null
    ? unsetText(entry)
    : [entry.usual, entry.unit].filter((part) => part !== undefined).join(' ')
}
