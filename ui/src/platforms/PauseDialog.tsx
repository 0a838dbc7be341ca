// Pauses a platform, with the reason that every job will show that waits for it.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { usePause } from './api'
import type { Platform } from './types'

export function PauseDialog({ platform, onClose }: { platform: Platform; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const pausing = usePause(platform.platform)
  return (
    <Confirm
      title={`Pause ${platform.platform}`}
      label={`Pause ${platform.platform}`}
      needs="jobs.manage"
      change={pausing}
      onConfirm={() => pausing.mutate(reason.trim(), { onSuccess: onClose })}
      onClose={onClose}
      pointers={['/reason']}
    >
      <p>
        No task of this platform begins until it is resumed. What is in hand goes on, and new jobs are taken
        and wait.
      </p>
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        placeholder="their API is down"
        hint="Shown at every job that waits for it."
        fault={faultAt(pausing.error, '/reason')}
        isFirst
      />
    </Confirm>
  )
}
