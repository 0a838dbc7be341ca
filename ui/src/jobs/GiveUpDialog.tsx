// Moves a job to the dead letters, with the reason that its letter will say.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { useGiveUp } from './api'
import { Name } from './Name'
import type { Job } from './types'

export function GiveUpDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const change = useGiveUp(job.id)
  const [typed, setTyped] = useState('')
  const reason = typed.trim()
  return (
    <Confirm
      title="Move to the dead letters"
      label="Move to dead letters"
      needs="jobs.manage"
      change={change}
      objection={reason ? null : 'Say why it is given up.'}
      onConfirm={() => reason && change.mutate(reason, { onSuccess: onClose })}
      onClose={onClose}
      isHard
      pointers={['/reason']}
    >
      <Name job={job} />
      <p>
        What is not over fails as if no attempt were left, and a worker that has it loses it at once.
        Documents that are here stay, and the dead letter can be replayed.
      </p>
      <TextField
        label="Reason"
        value={typed}
        onChange={setTyped}
        placeholder="the page is gone"
        hint="Its dead letter and the audit say so, with your name."
        fault={faultAt(change.error, '/reason')}
        isFirst
      />
    </Confirm>
  )
}
