// What can be done with a run now: the next thing as a button, the others in a menu.
import { Ban, Pause, Play, Wallet } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Menu } from '@/kit/Menu'
import { useAct } from './api'
import { type Asking, menuOf, objectionTo, RunDialog } from './RunDialog'
import { isOver } from './states'
import type { Run } from './types'

export function RunActions({ run }: { run: Run }) {
  const [asking, setAsking] = useState<Asking | null>(null)
  return (
    <>
      <Primary run={run} onAsk={setAsking} />
      {!isOver(run) && (
        <Button
          icon={Ban}
          needs="runs.manage"
          objection={objectionTo('cancel', run)}
          onClick={() => setAsking('cancel')}
        >
          Cancel
        </Button>
      )}
      <Menu label="More actions" items={menuOf(run, setAsking).filter(({ label }) => !SHOWN.has(label))} />
      {asking && <RunDialog act={asking} run={run} onClose={() => setAsking(null)} />}
    </>
  )
}

const SHOWN = new Set(['Start', 'Pause', 'Resume', 'Cancel'])

type Props = { run: Run; onAsk: (act: Asking) => void }

function Primary({ run, onAsk }: Props) {
  const change = useAct(run.id)
  if (run.status === 'pending' && !run.sub_status) {
    return (
      <Button look="primary" icon={Play} needs="runs.manage" onClick={() => onAsk('start')}>
        Start
      </Button>
    )
  }
  if (run.pause_reason === 'budget') {
    return (
      <Button look="primary" icon={Wallet} needs="runs.manage" onClick={() => onAsk('raise')}>
        Raise cap and resume
      </Button>
    )
  }
  const act = run.status === 'running' ? 'pause' : run.status === 'paused' ? 'resume' : null
  if (!act) return null
  const [icon, label, busy] = act === 'pause' ? [Pause, 'Pause', 'Pausing…'] : [Play, 'Resume', 'Resuming…']
  return (
    <>
      {change.error && (
        <span role="alert" className="text-bad">
          {sentence(change.error)}
        </span>
      )}
      <Button
        look="primary"
        icon={icon}
        needs="runs.manage"
        isBusy={change.isPending}
        onClick={() => change.mutate(act)}
      >
        {change.isPending ? busy : label}
      </Button>
    </>
  )
}
