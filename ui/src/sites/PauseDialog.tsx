// Pauses a site, with the reason everybody will read who asks for something of it.
import { useState } from 'react'
import { faultAt, remainder } from '@/api/problems'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextField } from '@/kit/Field'
import { Refused } from '@/kit/states'
import { usePauseSite } from './api'

export function PauseDialog({ site, onClose }: { site: Site; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const pausing = usePauseSite(site.slug)
  return (
    <Dialog
      title={`Pause ${site.slug}`}
      onClose={onClose}
      onSubmit={() => pausing.mutate(reason.trim(), { onSuccess: onClose })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={pausing.isPending}>
            Pause {site.slug}
          </Button>
        </>
      }
    >
      <Refused>{remainder(pausing.error, ['/reason'])}</Refused>
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
    </Dialog>
  )
}
