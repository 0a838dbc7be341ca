// What the palette can lead to: pages, views, actions, and whatever has a name or an id.
import {
  Bookmark,
  BookOpen,
  Boxes,
  Clock,
  CloudDownload,
  Globe,
  Keyboard,
  Link2,
  ListChecks,
  LogOut,
  type LucideIcon,
  Pause,
  Rocket,
  Search,
  SquareArrowOutUpRight,
  SunMoon,
} from 'lucide-react'
import { useObjection } from '@/api/permissions'
import { signOut } from '@/api/session'
import { copy } from '@/kit/copying'
import { useViews } from '@/kit/views'
import { toggleZone } from '@/kit/zone'
import { toggleRhythm } from '@/live/rhythm'
import { usePlatforms } from '@/platforms/api'
import { useRuns } from '@/runs/api'
import { PLACES } from '@/shell/navigation'
import { toggleTheme } from '@/shell/theme'
import { useSites } from '@/sites/api'
import { useSources } from '@/sources/api'

export type Entry = {
  key: string
  group: 'Pages' | 'Views' | 'Actions' | 'Runs' | 'Sites' | 'Platforms' | 'Sources' | 'Open'
  label: string
  hint?: string
  icon: LucideIcon
  /** Where it leads, or what it does. */
  to?: string
  act?: () => void
  /** Shown whatever was typed. */
  isFixed?: boolean
}

// How ids begin, and what they are ids of.
const IDS: Record<string, { label: string; path: string }> = {
  run: { label: 'run', path: '/runs' },
  acct: { label: 'account', path: '/accounts' },
  seed: { label: 'seed', path: '/seeds' },
  cap: { label: 'capture', path: '/captures' },
  job: { label: 'job', path: '/jobs' },
  ent: { label: 'entity', path: '/entities' },
}

/** What an id leads to; jobs may be called anything. */
function opened(typed: string): Entry[] {
  const [, prefix] = /^([a-z]+)_[0-9a-f]{32}$/.exec(typed) ?? []
  const known = prefix ? IDS[prefix] : undefined
  const entry = (label: string, to: string, icon: LucideIcon): Entry => ({
    ...{ key: `open ${to}`, group: 'Open', label, to, icon, isFixed: true },
  })
  if (known) {
    return [entry(`Open the ${known.label} ${typed}`, `${known.path}/${typed}`, SquareArrowOutUpRight)]
  }
  if (typed.length < 2) return []
  return [
    ...(/\s/.test(typed)
      ? []
      : [entry(`Open the job “${typed}”`, `/jobs/${encodeURIComponent(typed)}`, ListChecks)]),
    entry(`Look for “${typed}” among entities`, `/entities?q=${encodeURIComponent(typed)}`, Search),
  ]
}

function actions(onHelp: () => void): Entry[] {
  const one = (label: string, icon: LucideIcon, does: Pick<Entry, 'to' | 'act' | 'hint'>): Entry => ({
    ...{ key: `act ${label}`, group: 'Actions', label, icon, ...does },
  })
  return [
    one('Plan a run', Rocket, { to: '/runs/new' }),
    one('Copy link to this page', Link2, { act: () => void copy(window.location.href) }),
    one('Stand still, or go on', Pause, { act: toggleRhythm, hint: 'r' }),
    one('Light or dark', SunMoon, { act: toggleTheme, hint: 't' }),
    one('Times in UTC or local', Clock, { act: toggleZone }),
    one('Keyboard', Keyboard, { act: onHelp, hint: '?' }),
    one('API reference', BookOpen, { act: () => window.location.assign('/docs') }),
    one('Sign out', LogOut, { act: () => signOut() }),
  ]
}

/** Everything the token may see; what has to be asked for comes when it comes. */
export function useEntries(typed: string, onHelp: () => void): Entry[] {
  const views = useViews()
  const sites = useSites(useObjection('sites.view') === null)
  const platforms = usePlatforms(useObjection('jobs.view') === null)
  const runs = useRuns({}, useObjection('runs.view') === null)
  const sources = useSources(useObjection('entities.view') === null)
  const all: Entry[] = [
    ...PLACES.map(
      ({ path, label, icon, key }): Entry => ({
        ...{ key: path, group: 'Pages', label, icon, to: path, hint: key && `g ${key}` },
      }),
    ),
    ...views.map(
      ({ name, path }): Entry => ({
        ...{ key: `view ${name}`, group: 'Views', label: name, icon: Bookmark, to: path },
      }),
    ),
    ...actions(onHelp),
    ...(runs.items ?? []).map(
      (run): Entry => ({
        ...{
          key: run.id,
          group: 'Runs',
          label: run.name,
          hint: run.status,
          icon: Rocket,
          to: `/runs/${run.id}`,
        },
      }),
    ),
    ...(sites.items ?? []).map(
      ({ slug, name, current_domain }): Entry => ({
        ...{ key: `site ${slug}`, group: 'Sites', label: name, hint: current_domain, icon: Globe },
        to: `/sites/${slug}`,
      }),
    ),
    ...(platforms.data ?? []).map(
      ({ platform, title }): Entry => ({
        ...{ key: `platform ${platform}`, group: 'Platforms', label: title, hint: platform, icon: Boxes },
        to: `/platforms/${platform}`,
      }),
    ),
    ...(sources.data ?? []).map(
      ({ name }): Entry => ({
        ...{ key: `source ${name}`, group: 'Sources', label: name, icon: CloudDownload, to: '/sources' },
      }),
    ),
  ]
  return [...matching(all, typed), ...opened(typed.trim())]
}

const MOST = 40
// What is there before anything is typed: the rest would only be scrolled past.
const AT_FIRST = new Set<Entry['group']>(['Pages', 'Views', 'Actions'])

/** Those that have every word in them, what begins with the first of them before the rest. */
function matching(entries: Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries.filter(({ group }) => AT_FIRST.has(group))
  const text = ({ group, label, hint = '' }: Entry) => `${label} ${hint} ${group}`.toLowerCase()
  const found = entries.filter((entry) => words.every((word) => text(entry).includes(word)))
  const isFirst = ({ label }: Entry) => label.toLowerCase().startsWith(words[0] ?? '')
  return [...found.filter(isFirst), ...found.filter((entry) => !isFirst(entry))].slice(0, MOST)
}
