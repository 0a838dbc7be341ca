// What a lease can be on.
import { Camera, CircleUserRound, ListChecks, type LucideIcon, Sprout } from 'lucide-react'
import type { Kind } from './api'

type Words = {
  label: string
  plural: string
  icon: LucideIcon /** Where one of them has its page. */
  path?: string
}

export const KINDS: Record<Kind, Words> = {
  account: { label: 'Account', plural: 'accounts', icon: CircleUserRound, path: 'accounts' },
  seed: { label: 'Seed', plural: 'seeds', icon: Sprout, path: 'seeds' },
  capture: { label: 'Capture', plural: 'captures', icon: Camera, path: 'captures' },
  task: { label: 'Task', plural: 'tasks', icon: ListChecks },
}

export function isKind(text: string): text is Kind {
  return text in KINDS
}
