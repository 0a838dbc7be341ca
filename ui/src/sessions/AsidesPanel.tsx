// Uploads that were not merged: held until somebody decides, and branches of runs that were logged out.
import { Inbox, LogOut } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Panel } from '@/kit/Panel'
import { type Decision, useDecide } from './api'

type Kind = 'held' | 'branch'
type Aside = { upload: string; kind: Kind }
type Props = { account: string; held: string[]; branches: string[] }

export function AsidesPanel({ account, held, branches }: Props) {
  const [open, setOpen] = useState<(Aside & { decision: Decision }) | null>(null)
  const asides: Aside[] = [
    ...held.map((upload) => ({ upload, kind: 'held' as const })),
    ...branches.map((upload) => ({ upload, kind: 'branch' as const })),
  ]
  if (asides.length === 0) return null
  return (
    <Panel title="Put aside" lead="Uploads that changed nothing so far. Take one in, or drop it.">
      <ul aria-label="Put aside" className="divide-y divide-line">
        {asides.map((aside) => (
          <Row key={aside.upload} aside={aside} onDecide={(decision) => setOpen({ ...aside, decision })} />
        ))}
      </ul>
      {open && <DecideDialog account={account} {...open} onClose={() => setOpen(null)} />}
    </Panel>
  )
}

function Row({ aside, onDecide }: { aside: Aside; onDecide: (decision: Decision) => void }) {
  const { upload, kind } = aside
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
      {kind === 'held' ? (
        <Badge tone="warn" icon={Inbox} title="It would delete what keeps the account signed in.">
          Held
        </Badge>
      ) : (
        <Badge icon={LogOut} title="Its run ended logged out.">
          Branch
        </Badge>
      )}
      <span className="min-w-0 flex-1 basis-40 font-mono text-xs/5 break-all">{upload}</span>
      <span className="flex gap-2">
        <Button needs="sessions.manage" aria-label={`Take ${upload}`} onClick={() => onDecide('take')}>
          Take
        </Button>
        <Button needs="sessions.manage" aria-label={`Drop ${upload}`} onClick={() => onDecide('drop')}>
          Drop
        </Button>
      </span>
    </li>
  )
}

const TAKEN: Record<Kind, string> = {
  held: 'What it wrote and deleted is merged, as if it had never been held. Roll back if that signs the account out.',
  branch:
    'Its run ended logged out, so taking it may sign the account out. Roll back to the version before if it does.',
}

type DialogProps = Aside & { account: string; decision: Decision; onClose: () => void }

function DecideDialog({ account, upload, kind, decision, onClose }: DialogProps) {
  const change = useDecide(account, upload)
  const isTaking = decision === 'take'
  return (
    <Confirm
      title={isTaking ? 'Take the upload' : 'Drop the upload'}
      label={isTaking ? 'Take' : 'Drop'}
      needs="sessions.manage"
      change={change}
      onConfirm={() => change.mutate(decision, { onSuccess: onClose })}
      onClose={onClose}
      isHard={!isTaking || kind === 'branch'}
    >
      <p className="font-mono text-xs/5 break-all">{upload}</p>
      <p>{isTaking ? TAKEN[kind] : 'It is forgotten; the session stays as it is.'}</p>
    </Confirm>
  )
}
