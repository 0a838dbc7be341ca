// Deletes a site, once its slug was typed.
import { useState } from 'react'
import { remainder } from '@/api/problems'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextField } from '@/kit/Field'
import { Refused } from '@/kit/states'
import { useDeleteSite } from './api'

type Props = { site: Site; onClose: () => void; onDeleted: () => void }

export function DeleteSiteDialog({ site, onClose, onDeleted }: Props) {
  const [typed, setTyped] = useState('')
  const deletion = useDeleteSite(site.slug)
  const isSure = typed.trim() === site.slug
  return (
    <Dialog
      title={`Delete ${site.slug}`}
      onClose={onClose}
      onSubmit={() => isSure && deletion.mutate(undefined, { onSuccess: onDeleted })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="danger"
            isBusy={deletion.isPending}
            objection={isSure ? null : `Type ${site.slug} first.`}
          >
            Delete {site.slug}
          </Button>
        </>
      }
    >
      <Refused>{remainder(deletion.error, [])}</Refused>
      <p>
        The site and its history of addresses are removed, and URLs at its addresses are unmanaged from then
        on. This cannot be undone. What was done to it stays in the audit.
      </p>
      <TextField label={`Type ${site.slug} to confirm`} value={typed} onChange={setTyped} isMono isFirst />
    </Dialog>
  )
}
