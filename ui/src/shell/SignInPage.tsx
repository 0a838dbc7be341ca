// Asks for a token and tries it before it is kept.
import { Eye, EyeOff } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { whoHas } from '@/api/client'
import { useChange } from '@/api/mutations'
import { Problem, sentence } from '@/api/problems'
import { signIn } from '@/api/session'
import { Button, IconButton } from '@/kit/Button'
import { TextField } from '@/kit/Field'
import { Mark } from './Mark'
import { ThemeToggle } from './ThemeToggle'

export function SignInPage({ farewell }: { farewell: string | null }) {
  const [token, setToken] = useState('')
  const [isShown, setIsShown] = useState(false)
  const attempt = useChange({ mutationFn: whoHas, onSuccess: (_who, tried) => signIn(tried) })

  useEffect(() => {
    document.title = 'Sign in · leasehold'
  }, [])

  function submit(event: FormEvent) {
    event.preventDefault()
    const pasted = token.trim()
    if (pasted) attempt.mutate(pasted)
  }

  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <div className="w-full max-w-sm">
        <div className="mb-5 flex items-center gap-3">
          <Mark size={36} />
          <div>
            <h1 className="text-lg font-semibold tracking-tight">leasehold</h1>
            <p className="text-soft">The control plane for web collectors</p>
          </div>
        </div>
        <form
          onSubmit={submit}
          className="flex flex-col gap-4 rounded-xl border border-line bg-panel p-5 shadow-raised"
        >
          {farewell && !attempt.error && (
            <p role="alert" className="rounded-md bg-warn-wash px-3 py-2 text-warn">
              You were signed out. {farewell}
            </p>
          )}
          {attempt.error && <Rejection error={attempt.error} />}
          <TextField
            label="Token"
            type={isShown ? 'text' : 'password'}
            value={token}
            onChange={setToken}
            placeholder="lh_…"
            isMono
            autoFocus
            hint="Kept for this tab only, until you sign out or close it."
            after={
              <IconButton
                icon={isShown ? EyeOff : Eye}
                label={isShown ? 'Hide what was typed' : 'Show what was typed'}
                onClick={() => setIsShown(!isShown)}
                className="-mr-2 !size-7"
              />
            }
          />
          <Button type="submit" look="primary" isBusy={attempt.isPending}>
            {attempt.isPending ? 'Signing in…' : 'Sign in'}
          </Button>
        </form>
        <div className="mt-4 flex items-center justify-between">
          <a href="/docs" className="rounded text-xs text-soft underline hover:text-ink">
            API reference
          </a>
          <ThemeToggle />
        </div>
      </div>
    </main>
  )
}

function Rejection({ error }: { error: unknown }) {
  const isRefusal = error instanceof Problem && error.status === 401
  return (
    <div role="alert" className="rounded-md border border-bad/30 bg-bad-wash px-3 py-2">
      <p className="font-medium text-bad">{sentence(error)}</p>
      {isRefusal && (
        <p className="mt-1 text-xs">
          <code className="font-mono">make up</code> printed one;{' '}
          <code className="font-mono whitespace-nowrap">leasehold tokens create --role admin</code> makes
          another.
        </p>
      )}
    </div>
  )
}
