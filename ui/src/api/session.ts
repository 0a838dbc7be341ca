// The token of this browser tab: kept in sessionStorage alone, so that it ends with the tab and never gets into a URL.
import { useSyncExternalStore } from 'react'

const KEY = 'leasehold.token'
const listeners = new Set<() => void>()

type Session = { token: string | null; farewell: string | null }

let session: Session = { token: sessionStorage.getItem(KEY), farewell: null }

function become(next: Session) {
  session = next
  for (const tell of listeners) tell()
}

export function currentToken(): string | null {
  return session.token
}

export function signIn(token: string) {
  sessionStorage.setItem(KEY, token)
  become({ token, farewell: null })
}

/** Forgets the token; `farewell` is shown on the sign-in page when it was not the user who left. */
export function signOut(farewell: string | null = null) {
  sessionStorage.removeItem(KEY)
  become({ token: null, farewell })
}

export function useSession(): Session {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => session,
  )
}
