// Adds one account to a pool. What the server refuses is shown at the field it is about.
import { useState } from 'react'
import { Link } from 'react-router'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, Problem, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextField } from '@/kit/Field'
import { newPair, Pairs, pairsFault, recordOf } from '@/kit/Pairs'
import { Refused, Warning } from '@/kit/states'
import { typedNumber } from '@/kit/typedNumber'
import { useCreateAccount, useSlugs } from './api'
import { SiteField } from './SiteField'

const POINTERS = ['/site', '/username', '/secret', '/labels', '/priority']

export function CreateAccountDialog({ site, onClose }: { site: string; onClose: () => void }) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const { data: sites } = useSlugs()
  const [slug, setSlug] = useState(site)
  const [username, setUsername] = useState('')
  const [secret, setSecret] = useState(() => [newPair('password')])
  const [labels, setLabels] = useState(() => [newPair()])
  const [priority, setPriority] = useState('')
  const creation = useCreateAccount(idempotencyKey)
  const { error } = creation

  // With a single site there is nothing to choose.
  const only = sites?.slugs.length === 1 ? sites.slugs[0] : undefined
  const chosen = slug || only || ''
  const isTaken = error instanceof Problem && error.is('account-exists')
  const isNowhere = error instanceof Problem && error.is('site-unknown')
  const isHalf = pairsFault(secret) ?? pairsFault(labels)

  function submit() {
    if (isHalf) return
    const wish = {
      site: chosen,
      username: username.trim(),
      secret: recordOf(secret),
      labels: recordOf(labels),
      priority: typedNumber(priority),
    }
    creation.mutate(wish, { onSuccess: onClose })
  }

  return (
    <Dialog
      title="Create account"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="accounts.manage"
            isBusy={creation.isPending}
            objection={isHalf ?? (chosen ? null : 'Choose a site first.')}
          >
            {creation.isPending ? 'Creating…' : 'Create account'}
          </Button>
        </>
      }
    >
      <Refused>{isTaken || isNowhere ? null : remainder(error, POINTERS)}</Refused>
      {sites?.slugs.length === 0 && (
        <Warning>
          An account belongs to a site, and there is none yet.{' '}
          <Link to="/sites" className="underline">
            Create a site first
          </Link>
          .
        </Warning>
      )}
      <SiteField
        value={chosen}
        onChange={setSlug}
        fault={isNowhere ? error.message : faultAt(error, '/site')}
      />
      <TextField
        label="Username"
        value={username}
        onChange={setUsername}
        placeholder="collector-07"
        hint="What it signs in as; each once per site."
        fault={isTaken ? error.message : faultAt(error, '/username')}
        isFirst
      />
      <Pairs
        legend="Secret"
        noun="Secret"
        pairs={secret}
        onChange={setSecret}
        isSecret
        hint="Whatever it takes to sign in. Sealed at rest; only those who hold a lease on it get it."
        fault={faultAt(error, '/secret')}
      />
      <Pairs
        legend="Labels"
        noun="Label"
        pairs={labels}
        onChange={setLabels}
        hint="Collectors can ask for accounts with certain labels."
        fault={faultAt(error, '/labels')}
      />
      <TextField
        label="Priority"
        value={priority}
        onChange={setPriority}
        inputMode="numeric"
        placeholder="0"
        hint="0 to 1000; higher is given out first."
        fault={faultAt(error, '/priority')}
      />
    </Dialog>
  )
}
