// What a lease can be on.
import { Camera, CircleUserRound, ListChecks, type LucideIcon, Sprout } from 'lucide-react'
import type { Kind } from './api'

export const KINDS: Record<Kind, { label: string; plural: string; icon: LucideIcon }> = {
  account: { label: 'Account', plural: 'accounts', icon: CircleUserRound },
  seed: { label: 'Seed', plural: 'seeds', icon: Sprout },
  capture: { label: 'Capture', plural: 'captures', icon: Camera },
  task: { label: 'Task', plural: 'tasks', icon: ListChecks },
}

export function isKind(text: string): text is Kind {
  return text in KINDS
}
