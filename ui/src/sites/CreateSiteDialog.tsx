// Makes a site. What the server refuses is shown at the field it is about.
import { useState } from 'react'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, Problem, remainder } from '@/api/problems'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Disclosure, TextField } from '@/kit/Field'
import { Refused } from '@/kit/states'
import { addressOf, addressRefusal, EMPTY_MOUNT } from './addresses'
import { useCreateSite } from './api'
import { MountFields, mountPointers } from './MountFields'
import { PolicyFields } from './PolicyFields'
import { POLICY_POINTERS, policyChange, USUAL_POLICY } from './policy'

const POINTERS = ['/slug', '/name', ...mountPointers('/domain'), ...POLICY_POINTERS]

type Props = { onClose: () => void; onCreated: (site: Site) => void }

export function CreateSiteDialog({ onClose, onCreated }: Props) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [slug, setSlug] = useState('')
  const [name, setName] = useState('')
  const [mount, setMount] = useState(EMPTY_MOUNT)
  const [policy, setPolicy] = useState(USUAL_POLICY)
  const creation = useCreateSite(idempotencyKey)
  const { error } = creation

  const isTaken = error instanceof Problem && error.is('site-exists')
  const isPlacedAtField = isTaken || addressRefusal(error) !== null

  function submit() {
    const wish = {
      slug: slug.trim(),
      name: name.trim() || null,
      domain: addressOf(mount),
      policy: policyChange(USUAL_POLICY, policy),
    }
    creation.mutate(wish, { onSuccess: onCreated })
  }

  return (
    <Dialog
      title="Create site"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={creation.isPending}>
            {creation.isPending ? 'Creating…' : 'Create site'}
          </Button>
        </>
      }
    >
      <Refused>{isPlacedAtField ? null : remainder(error, POINTERS)}</Refused>
      <TextField
        label="Slug"
        value={slug}
        onChange={setSlug}
        placeholder="board"
        hint="Its name in every call. Small letters, digits, - and _; it cannot be changed later."
        fault={isTaken ? error.message : faultAt(error, '/slug')}
        isMono
        isFirst
      />
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        placeholder={slug || 'The Board'}
        hint="How people call it. The slug when left empty."
        fault={faultAt(error, '/name')}
      />
      <MountFields
        label="Domain"
        hint="The host it lives on now. A pasted URL is taken apart."
        draft={mount}
        onChange={setMount}
        error={error}
        pointer="/domain"
      />
      <Disclosure
        summary="Policy: how gently to treat it"
        isOpen={POLICY_POINTERS.some((pointer) => faultAt(error, pointer))}
      >
        <PolicyFields draft={policy} onChange={setPolicy} error={error} />
      </Disclosure>
    </Dialog>
  )
}
