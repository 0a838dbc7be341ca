// Where sockets do not get through: the same news, asked for. Each question waits at the server until there is some.
import { answered, api } from '@/api/client'
import type { Message } from './messages'

const WAIT_S = 20

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

/** What came after `since`; waits for it at most so long. */
export async function askEvents(
  run: string,
  since: number,
  patience: number,
  signal: AbortSignal,
): Promise<Message[]> {
  const wait_seconds = Math.max(0, Math.min(WAIT_S, Math.floor(patience / 1000)))
  const params = { path: { run_id: run }, query: { since, wait_seconds } }
  const answer = await answered(api.GET('/v2/runs/{run_id}/events', { params, signal }))
  // A long history comes at once, page by page, and not one page a second.
  if (answer.items.length === 0 && wait_seconds === 0) await pause(1000, signal)
  return answer.items as Message[]
}
