// One socket: a ticket for it, what it is to tell, and what it says. The token itself is never in its address.
import { currentToken } from '@/api/session'

const OPENS_WITHIN_MS = 5_000
const SENT_AWAY_MS = 1_000
// Twice what the server lets pass between two signs of life, and a little more.
const SILENT_MS = 35_000

export type Topic = { run_id?: string; since?: number }
type Hooks = { onOpen: () => void; onMessage: (text: unknown) => void; signal: AbortSignal }

async function ticket(signal: AbortSignal): Promise<string> {
  const answer = await fetch('/v2/live/tickets', {
    method: 'POST',
    headers: { Authorization: `Bearer ${currentToken()}` },
    signal,
  })
  if (!answer.ok) throw new Error(`no ticket: ${answer.status}`)
  return (await answer.json()).ticket
}

/** Listens until the socket ends. Rejects when it never began. */
export async function listen(topic: Topic, { onOpen, onMessage, signal }: Hooks): Promise<void> {
  const admission = await ticket(signal)
  const address = new URL('/v2/live', window.location.href)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(address)
  await new Promise<void>((resolve, reject) => {
    let isOpen = false
    let timer = setTimeout(() => socket.close(), OPENS_WITHIN_MS)
    const abort = () => socket.close()
    signal.addEventListener('abort', abort)
    function heard() {
      if (!isOpen) onOpen()
      isOpen = true
      clearTimeout(timer)
      timer = setTimeout(() => socket.close(), SILENT_MS)
    }
    socket.onopen = () => {
      socket.send(JSON.stringify({ ticket: admission, subscribe: topic }))
      // Where nothing happens nothing is told: who is not sent away soon is heard.
      clearTimeout(timer)
      timer = setTimeout(heard, SENT_AWAY_MS)
    }
    socket.onmessage = ({ data }) => {
      heard()
      onMessage(data)
    }
    socket.onclose = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      if (isOpen) resolve()
      else reject(new Error('the socket never opened'))
    }
  })
}
