// Adds one seed. What the server refuses is shown at the field it is about; an address that is there already is said.
import { useState } from 'react'
import { Link } from 'react-router'
import { useSlugs } from '@/accounts/api'
import { SiteField } from '@/accounts/SiteField'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Disclosure, TextField } from '@/kit/Field'
import { newPair, Pairs, pairsFault, recordOf } from '@/kit/Pairs'
import { Refused, Warning } from '@/kit/states'
import { typedNumber } from '@/kit/typedNumber'
import { useAddSeed } from './api'
import { NO_RHYTHM, RhythmFields, rhythmFault, rhythmPointers } from './RhythmFields'
import { typedSpan } from './spans'
import type { NewSeed, Seed } from './types'

const ITEM = '/items/0'
const POINTERS = [
  ...['site', 'url', 'kind', 'priority', 'labels'].map((name) => `${ITEM}/${name}`),
  ...rhythmPointers(ITEM),
]

function useForm(site: string) {
  const { data: sites } = useSlugs()
  const [slug, setSlug] = useState(site)
  const [url, setUrl] = useState('')
  const [kind, setKind] = useState('')
  const [priority, setPriority] = useState('')
  const [rhythm, setRhythm] = useState(NO_RHYTHM)
  const [labels, setLabels] = useState(() => [newPair()])
  // With a single site there is nothing to choose.
  const chosen = slug || (sites?.slugs.length === 1 ? sites.slugs[0] : '') || ''
  const wish = (): NewSeed => ({
    site: chosen,
    url: url.trim(),
    kind: kind.trim() || undefined,
    priority: typedNumber(priority) ?? undefined,
    interval_seconds: typedSpan(rhythm.interval) ?? undefined,
    min_interval_seconds: typedSpan(rhythm.least) ?? undefined,
    max_interval_seconds: typedSpan(rhythm.most) ?? undefined,
    labels: labels.some((label) => label.name.trim()) ? recordOf(labels) : undefined,
  })
  const objection = rhythmFault(rhythm) ?? pairsFault(labels) ?? (chosen ? null : 'Choose a site first.')
  return {
    ...{ chosen, setSlug, url, setUrl, kind, setKind, priority, setPriority, rhythm, setRhythm },
    ...{ labels, setLabels, wish, objection, hasNoSite: sites?.slugs.length === 0 },
  }
}

export function AddSeedDialog({ site, onClose }: { site: string; onClose: () => void }) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm(site)
  const adding = useAddSeed(idempotencyKey)
  const { error, data: added } = adding
  const known = added && added.created === 0 ? added.items[0] : undefined
  if (known) return <KnownDialog seed={known} onClose={onClose} />

  function submit() {
    if (form.objection) return
    adding.mutate(form.wish(), { onSuccess: ({ created }) => created > 0 && onClose() })
  }

  return (
    <Dialog
      title="Add seed"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="seeds.manage"
            isBusy={adding.isPending}
            objection={form.objection}
          >
            {adding.isPending ? 'Adding…' : 'Add seed'}
          </Button>
        </>
      }
    >
      <Refused>{remainder(error, POINTERS)}</Refused>
      {form.hasNoSite && (
        <Warning>
          A seed belongs to a site, and there is none yet.{' '}
          <Link to="/sites" className="underline">
            Create a site first
          </Link>
          .
        </Warning>
      )}
      <SiteField value={form.chosen} onChange={form.setSlug} fault={faultAt(error, `${ITEM}/site`)} />
      <TextField
        label="URL"
        value={form.url}
        onChange={form.setUrl}
        placeholder="https://board.example/new"
        hint="At any address the site has or had. It follows the site when that moves."
        fault={faultAt(error, `${ITEM}/url`)}
        isMono
        isFirst
      />
      <RhythmFields rhythm={form.rhythm} onChange={form.setRhythm} error={error} under={ITEM} />
      <Disclosure summary="Priority, kind and labels">
        <div className="flex flex-col gap-4">
          <TextField
            label="Priority"
            value={form.priority}
            onChange={form.setPriority}
            inputMode="numeric"
            placeholder="50"
            hint="0 to 100; higher is handed out first."
            fault={faultAt(error, `${ITEM}/priority`)}
          />
          <TextField
            label="Kind"
            value={form.kind}
            onChange={form.setKind}
            placeholder="page"
            hint="What it is, as your collectors call it."
            fault={faultAt(error, `${ITEM}/kind`)}
          />
          <Pairs
            legend="Labels"
            noun="Label"
            pairs={form.labels}
            onChange={form.setLabels}
            hint="Collectors can ask for seeds with certain labels."
            fault={faultAt(error, `${ITEM}/labels`)}
          />
        </div>
      </Disclosure>
    </Dialog>
  )
}

/** Adding an address twice changes the one there is; whoever did not know is told. */
function KnownDialog({ seed, onClose }: { seed: Seed; onClose: () => void }) {
  return (
    <Dialog
      title="This seed was there already"
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <p role="status">
        <Link to={`/seeds/${seed.id}`} onClick={onClose} className="font-medium text-accent underline">
          {seed.url ?? seed.original_url}
        </Link>{' '}
        now has what you typed, and keeps its schedule and everything you left out.
      </p>
    </Dialog>
  )
}
