// What the server tells of runs, over the socket and by polling alike.
import type { Run, RunEvent } from '@/runs/types'

export type Snapshot = { seq: number; type: 'snapshot'; run_id: string; run: Run }
export type Message = RunEvent | Snapshot

export function isSnapshot(message: Message): message is Snapshot {
  return message.type === 'snapshot'
}

/** A message, or null for what is none: a sign of life, or something newer than this page. */
export function read(text: unknown): Message | null {
  if (typeof text !== 'string') return null
  try {
    const found = JSON.parse(text)
    return typeof found?.run_id === 'string' && typeof found.seq === 'number' ? found : null
  } catch {
    return null
  }
}
