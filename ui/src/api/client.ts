// The one way to the API: adds the token, turns refusals into errors, and ends the session when the token is refused.
import { QueryClient } from '@tanstack/react-query'
import createClient from 'openapi-fetch'
import { Problem, Unreachable } from './problems'
import type { paths } from './schema'
import { currentToken, signOut } from './session'
import type { ProblemDocument, Token } from './types'

export const api = createClient<paths>()

api.use({
  onRequest({ request }) {
    const token = currentToken()
    if (token) request.headers.set('Authorization', `Bearer ${token}`)
    return request
  },
  async onResponse({ request, response }) {
    // Answers to a token that was replaced meanwhile come late and must not end the new session.
    const token = currentToken()
    if (response.status === 401 && token && request.headers.get('Authorization') === `Bearer ${token}`) {
      // Something in between may have answered, and not in JSON.
      const problem: Partial<ProblemDocument> = await response
        .clone()
        .json()
        .catch(() => ({}))
      signOut(problem.detail ?? 'The token was refused.')
    }
  },
  onError: () => new Unreachable(),
})

type Answered<T> = { data?: T; error?: unknown; response: Response }

/** The answer's body, or the refusal as an error. */
export async function answered<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer
  if (!response.ok) throw new Problem(response.status, isDocument(error) ? error : {})
  return data as T
}

function isDocument(body: unknown): body is ProblemDocument {
  return typeof body === 'object' && body !== null && 'type' in body
}

/** Asks the server about a token that is not the session's yet. */
export async function whoHas(token: string): Promise<Token> {
  const stranger = createClient<paths>()
  stranger.use({ onError: () => new Unreachable() })
  return answered(stranger.GET('/v2/tokens/self', { headers: { Authorization: `Bearer ${token}` } }))
}

/** One per dialog: a second click, or a retry after a lost answer, then makes nothing twice. */
export function newIdempotencyKey(): string {
  // randomUUID is missing on plain HTTP, where many will first try this UI.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one however often it is asked for; only the way to the server can get better.
      retry: (failures, error) => failures < 2 && (error instanceof Unreachable || isTemporary(error)),
      retryDelay: (failures) => 500 * 2 ** failures,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

function isTemporary(error: unknown): boolean {
  return error instanceof Problem && error.status === 503
}
