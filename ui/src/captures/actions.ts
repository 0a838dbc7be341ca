// What one can do to a capture, and which of it makes sense now.
import { RotateCcw, Trash2 } from 'lucide-react'
import type { MenuItem } from '@/kit/Menu'
import { isAside } from './states'
import type { Capture } from './types'

export type Act = 'requeue' | 'delete'

export function objectionTo(act: Act, capture: Capture): string | null {
  if (act === 'requeue') return isAside(capture.state) ? null : 'Only for what is stuck or rejected.'
  return capture.lease_id ? `${capture.holder} has claimed it. Revoke the lease first.` : null
}

export function menuOf(capture: Capture, onAct: (act: Act) => void): MenuItem[] {
  return [
    {
      label: 'Requeue',
      icon: RotateCcw,
      needs: 'captures.consume',
      objection: objectionTo('requeue', capture),
      onSelect: () => onAct('requeue'),
    },
    {
      label: 'Delete',
      icon: Trash2,
      needs: 'captures.consume',
      objection: objectionTo('delete', capture),
      onSelect: () => onAct('delete'),
      isDanger: true,
    },
  ]
}
