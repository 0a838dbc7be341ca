// Moves a site in two steps: say where to, see what that would do, and only then do it.
import { useState } from 'react'
import { faultAt, remainder } from '@/api/problems'
import type { Mount, MoveIn, Site, Trust } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Choices, TextField } from '@/kit/Field'
import { Refused } from '@/kit/states'
import {
  addressOf,
  addressRefusal,
  draftOf,
  EMPTY_MOUNT,
  type MountDraft,
  sampleUrls,
  shortAddress,
} from './addresses'
import { useMoveSite, usePreview } from './api'
import { MountFields, mountPointers } from './MountFields'
import { MovePreview } from './MovePreview'
import { TRUST } from './SiteState'

const POINTERS = ['/reason', ...mountPointers('/to')]

const TRUST_CHOICES = {
  credentials: { label: TRUST.credentials.label, hint: TRUST.credentials.means },
  urls: { label: TRUST.urls.label, hint: TRUST.urls.means },
  observed: { label: TRUST.observed.label, hint: TRUST.observed.means },
}

type Props = { site: Site; target?: Mount; onClose: () => void }

export function MoveDialog({ site, target, onClose }: Props) {
  const [mount, setMount] = useState<MountDraft>(target ? draftOf(target) : EMPTY_MOUNT)
  const [trust, setTrust] = useState<Trust>(target?.trust === 'urls' ? 'urls' : 'credentials')
  const [reason, setReason] = useState('')
  const preview = usePreview(site.slug)
  const move = useMoveSite(site.slug)
  const wish: MoveIn = { to: addressOf(mount), trust, reason: reason.trim() || null }
  const seen = preview.data
  const here = site.mounts.find((one) => one.current)

  function submit() {
    if (!seen) preview.mutate({ ...wish, urls: here ? sampleUrls(here) : [] })
    else if (!isPointless) move.mutate(wish, { onSuccess: onClose })
  }

  function goBack() {
    preview.reset()
    move.reset()
  }

  // A proposal changes nothing either, but is put on record.
  const isPointless = seen !== undefined && !seen.changed && trust !== 'observed'
  const destination = seen ? shortAddress(seen.to_address) : ''
  const act =
    trust === 'observed' ? `Propose ${destination} for ${site.slug}` : `Move ${site.slug} to ${destination}`
  const refusal = addressRefusal(preview.error)
  return (
    <Dialog
      title={`Move ${site.slug}`}
      onClose={onClose}
      onSubmit={submit}
      isWide={seen !== undefined}
      footer={
        seen ? (
          <>
            <Button onClick={goBack}>Back</Button>
            <Button
              type="submit"
              look="primary"
              isBusy={move.isPending}
              objection={isPointless ? 'The site lives there already.' : null}
              className="min-w-0 !shrink"
            >
              <span className="truncate">{act}</span>
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" look="primary" isBusy={preview.isPending}>
              Preview
            </Button>
          </>
        )
      }
    >
      {seen ? (
        <>
          <Refused>{remainder(move.error, [])}</Refused>
          <MovePreview site={site} wish={wish} moved={seen} />
        </>
      ) : (
        <>
          <Refused>{refusal ? null : remainder(preview.error, POINTERS)}</Refused>
          <MountFields
            label="New address"
            hint={`The host it lives on from now on; today that is ${site.current_domain}.`}
            draft={mount}
            onChange={setMount}
            error={preview.error}
            pointer="/to"
            isFirst
          />
          <Choices legend="What follows" value={trust} onChange={setTrust} choices={TRUST_CHOICES} />
          <TextField
            label="Reason"
            value={reason}
            onChange={setReason}
            placeholder="The old host shows a notice that it moved"
            hint="Kept in the history of the site and in the audit."
            fault={faultAt(preview.error, '/reason')}
          />
        </>
      )}
    </Dialog>
  )
}
