// What one can do to an account, and which of it makes sense now.
import { Ban, CircleCheck, CircleMinus, Eye, type LucideIcon, Pencil, Trash2, Unplug } from 'lucide-react'
import type { Permission } from '@/api/types'
import type { MenuItem } from '@/kit/Menu'
import type { Account } from './types'

export type Act = 'activate' | 'deactivate' | 'block' | 'revoke' | 'reveal' | 'edit' | 'delete'

export const ACTS: Record<Act, { label: string; icon: LucideIcon; needs: Permission; isDanger?: boolean }> = {
  edit: { label: 'Edit', icon: Pencil, needs: 'accounts.manage' },
  activate: { label: 'Activate', icon: CircleCheck, needs: 'accounts.manage' },
  deactivate: { label: 'Deactivate', icon: CircleMinus, needs: 'accounts.manage' },
  block: { label: 'Block', icon: Ban, needs: 'accounts.manage' },
  revoke: { label: 'Revoke lease', icon: Unplug, needs: 'leases.manage' },
  reveal: { label: 'Reveal secret', icon: Eye, needs: 'accounts.reveal' },
  delete: { label: 'Delete', icon: Trash2, needs: 'accounts.manage', isDanger: true },
}

function isSensible(act: Act, { standing, lease_id }: Account): boolean {
  if (act === 'activate') return standing !== 'active'
  if (act === 'deactivate') return standing === 'active'
  if (act === 'block') return standing !== 'blocked'
  if (act === 'revoke') return lease_id !== null
  return true
}

export function objectionTo(act: Act, account: Account): string | null {
  return act === 'delete' && account.lease_id ? 'It is in use. Revoke its lease first.' : null
}

export function actsFor(account: Account): Act[] {
  return (Object.keys(ACTS) as Act[]).filter((act) => isSensible(act, account))
}

export function menuOf(account: Account, onAct: (act: Act) => void): MenuItem[] {
  return actsFor(account).map((act) => ({
    ...ACTS[act],
    objection: objectionTo(act, account),
    onSelect: () => onAct(act),
  }))
}
