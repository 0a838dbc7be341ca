// Shows the secret of an account: on demand, on record, and for half a minute.
import { Eye } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useWho } from '@/api/permissions'
import { remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { clock, useSecond } from '@/kit/Countdown'
import { Dialog } from '@/kit/Dialog'
import { Refused, Warning } from '@/kit/states'
import { useReveal } from './api'
import type { Account, Secret } from './types'

const SHOWN_MS = 30_000

export function RevealDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const { data: who } = useWho()
  const reveal = useReveal(account.id)
  const [wasShown, setWasShown] = useState(false)
  const { data: secret, reset } = reveal

  useEffect(() => {
    if (!secret) return
    const timer = setTimeout(() => {
      setWasShown(true)
      reset()
    }, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [secret, reset])

  return (
    <Dialog
      title={`Secret of ${account.username}`}
      onClose={onClose}
      onSubmit={() => !secret && reveal.mutate(undefined)}
      footer={
        secret ? (
          <>
            <TimeLeft />
            <Button look="primary" onClick={onClose}>
              Hide now
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{wasShown ? 'Close' : 'Cancel'}</Button>
            <Button type="submit" look="primary" icon={Eye} needs="accounts.reveal" isBusy={reveal.isPending}>
              {wasShown ? 'Reveal again' : 'Reveal'}
            </Button>
          </>
        )
      }
    >
      <Refused>{remainder(reveal.error, [])}</Refused>
      {secret ? (
        <Parts secret={secret} />
      ) : (
        <>
          {wasShown && <p role="status">It is hidden again.</p>}
          <Warning>
            That you looked is written into the audit{who && `, under the name ${who.name}`}, each time you
            do.
          </Warning>
          <p>The secret is shown for 30 seconds and kept nowhere in this browser.</p>
        </>
      )}
    </Dialog>
  )
}

function TimeLeft() {
  const [until] = useState(() => Date.now() + SHOWN_MS)
  return (
    <p className="mr-auto text-xs text-soft">Hidden in {clock(Math.min(SHOWN_MS, until - useSecond()))}</p>
  )
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function Parts({ secret }: { secret: Secret }) {
  const parts = Object.entries(secret)
  if (parts.length === 0) return <p role="status">This account has an empty secret.</p>
  return (
    <dl aria-label="Secret" className="flex flex-col gap-3">
      {parts.map(([name, value]) => (
        <div key={name}>
          <dt className="mb-1 text-xs font-medium">{name}</dt>
          <dd className="flex items-start gap-2">
            <code className="min-h-8 min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs/5 break-all whitespace-pre-wrap select-all">
              {asText(value)}
            </code>
            <CopyButton text={asText(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
