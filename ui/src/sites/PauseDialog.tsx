// Pauses a site, with the reason everybody will read who asks for something of it.

import { useState } from 'react'
import { faultAt } from '@/api/problems'
import type { Site } from '@/api/types'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { usePauseSite } from './api'

export function PauseDialog({ site, onClose }: { site: Site; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const pausing = usePauseSite(site.slug)
  return (
    <Confirm
      title={`Pause ${site.slug}`}
      onClose={onClose}
      onConfirm={() => pausing.mutate(reason.trim(), { onSuccess: onClose })}
      label={`Pause ${site.slug}`}
      change={pausing}
      pointers={['/reason']}
    >
      <p>Nobody gets an account or a seed of this site until it is resumed. Leases that are out go on.</p>
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        placeholder="paused by an operator"
        hint="Shown to everybody who asks for something of this site."
        fault={faultAt(pausing.error, '/reason')}
        isFirst
      />
    </Confirm>
  )
}
