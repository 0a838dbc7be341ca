// A site's addresses as a story: each with its stretch of time and the move that brought it.
import type { Mount, Move } from '@/api/types'
import { addressText } from './addresses'

export type Chapter = {
  mount: Mount
  address: string
  move: Move | null
  /** When the site went on to the next address; null while it is there, and for a proposal, where it never was. */
  until: string | null
  isProposal: boolean
}

// A mount and its move are written in one transaction, by clocks that are read one after the other.
const SAME_MOMENT_MS = 5_000

function moveOf(mount: Mount, moves: Move[]): Move | null {
  const address = addressText(mount)
  const distance = (move: Move) => Math.abs(Date.parse(move.at) - Date.parse(mount.since))
  const near = moves.filter(
    (move) => move.to_address === address && move.trust === mount.trust && distance(move) < SAME_MOMENT_MS,
  )
  return near.sort((one, other) => distance(one) - distance(other))[0] ?? null
}

/** Newest first. */
export function chapters(mounts: Mount[], moves: Move[]): Chapter[] {
  const told = mounts.map((mount, index) => {
    const isProposal = mount.trust === 'observed'
    const next = mounts.slice(index + 1).find((later) => later.trust !== 'observed')
    return {
      mount,
      address: addressText(mount),
      move: moveOf(mount, moves),
      until: isProposal ? null : (next?.since ?? null),
      isProposal,
    }
  })
  return told.reverse()
}
