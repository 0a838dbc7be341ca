// What one can do to a seed, and which of it makes sense now.
import { CircleCheck, CircleMinus, type LucideIcon, Pencil, Play, Trash2 } from 'lucide-react'
import type { Permission } from '@/api/types'
import type { MenuItem } from '@/kit/Menu'
import type { Seed } from './types'

export type Act = 'visit' | 'edit' | 'enable' | 'disable' | 'delete'

export const ACTS: Record<Act, { label: string; icon: LucideIcon; needs: Permission; isDanger?: boolean }> = {
  visit: { label: 'Make due now', icon: Play, needs: 'seeds.manage' },
  edit: { label: 'Edit', icon: Pencil, needs: 'seeds.manage' },
  enable: { label: 'Enable', icon: CircleCheck, needs: 'seeds.manage' },
  disable: { label: 'Disable', icon: CircleMinus, needs: 'seeds.manage' },
  delete: { label: 'Delete', icon: Trash2, needs: 'seeds.manage', isDanger: true },
}

function isSensible(act: Act, seed: Seed): boolean {
  if (act === 'visit') return seed.enabled && Date.parse(seed.next_due_at) > Date.now()
  if (act === 'enable') return !seed.enabled
  if (act === 'disable') return seed.enabled
  return true
}

export function objectionTo(act: Act, seed: Seed): string | null {
  return act === 'delete' && seed.lease_id ? `${seed.holder} holds it. Revoke the lease first.` : null
}

export function actsFor(seed: Seed): Act[] {
  return (Object.keys(ACTS) as Act[]).filter((act) => isSensible(act, seed))
}

export function menuOf(seed: Seed, onAct: (act: Act) => void): MenuItem[] {
  return actsFor(seed).map((act) => ({
    ...ACTS[act],
    objection: objectionTo(act, seed),
    onSelect: () => onAct(act),
  }))
}
