// Deletes a site, once its slug was typed.

import { useState } from 'react'
import type { Site } from '@/api/types'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { useDeleteSite } from './api'

type Props = { site: Site; onClose: () => void; onDeleted: () => void }

export function DeleteSiteDialog({ site, onClose, onDeleted }: Props) {
  const [typed, setTyped] = useState('')
  const deletion = useDeleteSite(site.slug)
  const isSure = typed.trim() === site.slug
  return (
    <Confirm
      title={`Delete ${site.slug}`}
      onClose={onClose}
      onConfirm={() => isSure && deletion.mutate(undefined, { onSuccess: onDeleted })}
      label={`Delete ${site.slug}`}
      change={deletion}
      objection={isSure ? null : `Type ${site.slug} first.`}
      isHard
    >
      <p>
        The site and its history of addresses are removed, and URLs at its addresses are unmanaged from then
        on. This cannot be undone. What was done to it stays in the audit.
      </p>
      <TextField label={`Type ${site.slug} to confirm`} value={typed} onChange={setTyped} isMono isFirst />
    </Confirm>
  )
}
