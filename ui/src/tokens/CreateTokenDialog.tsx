// Makes a token and shows it this once.
import { useState } from 'react'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, remainder } from '@/api/problems'
import type { Permission, Role } from '@/api/types'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Dialog } from '@/kit/Dialog'
import { Choices, Select, TextField } from '@/kit/Field'
import { Refused } from '@/kit/states'
import { useCreateToken } from './api'
import { PermissionBoxes } from './PermissionBoxes'

type Kind = Role | 'own'

const KINDS: Record<Kind, { label: string; hint: string }> = {
  collector: { label: 'Collector', hint: 'Code that collects: takes leases, hands captures over.' },
  producer: { label: 'Producer', hint: 'A service that asks for crawls.' },
  viewer: { label: 'Viewer', hint: 'Sees everything but secrets, changes nothing.' },
  operator: { label: 'Operator', hint: 'Runs the place day by day.' },
  admin: { label: 'Admin', hint: 'Also sees secrets, makes tokens, changes settings.' },
  own: { label: 'Chosen permissions', hint: 'Exactly what you tick, and nothing else.' },
}

const DAY_S = 86_400
const LIFETIMES = {
  never: 'Never',
  [DAY_S]: 'In a day',
  [7 * DAY_S]: 'In a week',
  [30 * DAY_S]: 'In 30 days',
  [90 * DAY_S]: 'In 90 days',
  [365 * DAY_S]: 'In a year',
}

const POINTERS = ['/name', '/expires_in_seconds']

export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('collector')
  const [chosen, setChosen] = useState<ReadonlySet<Permission>>(new Set())
  const [lifetime, setLifetime] = useState('never')
  const creation = useCreateToken(idempotencyKey)

  if (creation.data) return <ShownOnce name={name} token={creation.data.token} onClose={onClose} />

  function submit() {
    const power = kind === 'own' ? { permissions: [...chosen] } : { role: kind }
    const expires_in_seconds = lifetime === 'never' ? null : Number(lifetime)
    creation.mutate({ name: name.trim(), ...power, expires_in_seconds })
  }

  const isUnticked = kind === 'own' && chosen.size === 0
  return (
    <Dialog
      title="Create token"
      onClose={onClose}
      onSubmit={() => !isUnticked && submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            isBusy={creation.isPending}
            objection={isUnticked ? 'Tick at least one permission.' : null}
          >
            Create token
          </Button>
        </>
      }
    >
      <Refused>{remainder(creation.error, POINTERS)}</Refused>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        placeholder="collector on host 7"
        hint="Who or what carries it; shown wherever it did something."
        fault={faultAt(creation.error, '/name')}
        isFirst
      />
      <Choices legend="What it may do" value={kind} onChange={setKind} choices={KINDS} />
      {kind === 'own' && <PermissionBoxes chosen={chosen} onChange={setChosen} />}
      <Select
        label="Expires"
        value={lifetime}
        onChange={setLifetime}
        options={LIFETIMES as Record<string, string>}
        fault={faultAt(creation.error, '/expires_in_seconds')}
      />
    </Dialog>
  )
}

type ShownProps = { name: string; token: string | null; onClose: () => void }

function ShownOnce({ name, token, onClose }: ShownProps) {
  return (
    <Dialog
      title="Token created"
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      {token ? (
        <>
          <p role="status">
            This is the token of <strong>{name}</strong>. Copy it now: it is not kept and cannot be shown
            again.
          </p>
          <div className="flex items-center gap-2">
            <output
              aria-label="New token"
              className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs break-all select-all"
            >
              {token}
            </output>
            <CopyButton text={token} />
          </div>
        </>
      ) : (
        <p role="status">
          The token <strong>{name}</strong> was made by an earlier try whose answer was lost, so it cannot be
          shown. Revoke it and make another.
        </p>
      )}
    </Dialog>
  )
}
