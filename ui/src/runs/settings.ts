// Settings of a run in words: which section they are of, what they are called, and what their value says.
import { worded } from '@/jobs/states'
import { briefly } from '@/kit/Moment'
import { money } from '@/kit/money'
import type { Setting } from './types'

const SECTIONS: Record<string, string> = {
  run: 'The run',
  categories: 'Category',
  organisation: 'The organisation',
  prices: 'Prices of a call',
  policies: 'Policies',
  platform: 'The platform’s file',
}

const NAMES: Record<string, string> = {
  budget_cap_micros: 'Cap of a run',
  soft_warning_percent: 'Soft limit',
  max_in_flight: 'Items at once',
  max_concurrent_runs: 'Runs at once',
  skip_collected_days: 'Skips what was collected within, in days',
  items: 'Items, at most',
  unit_cost_micros: 'Unit price',
  listing_micros: 'A page of a listing',
  at_cap: 'At the cap',
  when_provider_down: 'When the provider is down',
  pause_at_failed_percent: 'Pause when more fail than',
  pause_at_failed_items: 'And at least so many ended',
  attempts: 'Attempts of an item',
  file: 'Its digest',
  concurrency: 'Tasks at once',
  rate_tasks: 'Tasks begun',
  rate_per_seconds: 'Within',
  rate_burst: 'Of them at once',
  lease_seconds: 'A silent worker is lost after',
  deadline_seconds: 'Deadline of a task',
  breaker_percent: 'Breaker opens at failures of',
  breaker_at_least: 'And at least so many attempts',
  breaker_window_seconds: 'Counted over',
  breaker_probe_seconds: 'Tried again after',
  outages: 'Outages',
}

const OWN: Record<string, string> = { 'run/budget_cap_micros': 'Cap' }

/** Settings by the heading they stand under, in their order; each category has one of its own. */
export function sectioned(settings: Setting[]): [string, Setting[]][] {
  const found = new Map<string, Setting[]>()
  for (const setting of settings) {
    const [section = '', which] = setting.path
    const name = SECTIONS[section] ?? worded(section)
    const heading = setting.path.length > 2 ? `${name} ${which}` : name
    found.set(heading, [...(found.get(heading) ?? []), setting])
  }
  return [...found]
}

export function labelled({ path }: Setting): string {
  const name = path.at(-1) ?? ''
  const plain = worded(name.replace(/_(micros|seconds|percent)$/, ''))
  return OWN[path.join('/')] ?? NAMES[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1)
}

const NONE: Record<string, string> = {
  rate_tasks: 'as many as come',
  unit_cost_micros: 'unknown',
  skip_collected_days: 'skips nothing',
}

/** Whether there is anything to say: what was not and is not, is nothing. */
export function isSaid({ path, frozen, current }: Setting): boolean {
  return frozen !== null || current !== null || (path.at(-1) ?? '') in NONE
}

export function shown(setting: Setting, when: 'frozen' | 'current'): string {
  const { path, [when]: value } = setting
  const name = path.at(-1) ?? ''
  if (value === null || value === undefined) return NONE[name] ?? '–'
  if (Array.isArray(value)) return value.length > 0 ? value.join(', ') : 'none'
  if (typeof value !== 'number') return value
  if (name.endsWith('_micros')) return money(value)
  if (name.endsWith('_seconds')) return briefly(value * 1000)
  return `${value.toLocaleString('en')}${name.endsWith('_percent') ? ' %' : ''}`
}
