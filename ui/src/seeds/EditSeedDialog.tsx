// Changes a seed's priority, rhythm, kind and labels.

import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { newPair, Pairs, pairsFault, recordOf } from '@/kit/Pairs'
import { typedNumber } from '@/kit/typedNumber'
import { useChangeSeed } from './api'
import { type Rhythm, RhythmFields, rhythmFault, rhythmPointers } from './RhythmFields'
import { span, typedSpan } from './spans'
import type { Seed, SeedChange } from './types'

const POINTERS = ['/priority', '/kind', '/labels', ...rhythmPointers()]

type Form = { priority: string; kind: string; rhythm: Rhythm; labels: Record<string, string> }

/** Only what differs from what stood here at the start: what others change meanwhile stays. */
function wishOf(before: Seed, { priority, kind, rhythm, labels }: Form): SeedChange {
  const wish: SeedChange = {}
  if (priority.trim() !== String(before.priority)) wish.priority = typedNumber(priority)
  if (kind.trim() !== before.kind) wish.kind = kind.trim()
  if (rhythm.interval !== span(before.interval_seconds)) wish.interval_seconds = typedSpan(rhythm.interval)
  if (rhythm.least !== span(before.min_interval_seconds)) wish.min_interval_seconds = typedSpan(rhythm.least)
  if (rhythm.most !== span(before.max_interval_seconds)) wish.max_interval_seconds = typedSpan(rhythm.most)
  if (JSON.stringify(labels) !== JSON.stringify(before.labels)) wish.labels = labels
  return wish
}

export function EditSeedDialog({ seed, onClose }: { seed: Seed; onClose: () => void }) {
  const [before] = useState(seed)
  const [priority, setPriority] = useState(String(before.priority))
  const [kind, setKind] = useState(before.kind)
  const [rhythm, setRhythm] = useState<Rhythm>({
    interval: span(before.interval_seconds),
    least: span(before.min_interval_seconds),
    most: span(before.max_interval_seconds),
  })
  const [labels, setLabels] = useState(() =>
    Object.entries(before.labels).map(([name, value]) => newPair(name, value)),
  )
  const change = useChangeSeed(seed.id)
  const { error } = change
  const objection = rhythmFault(rhythm) ?? pairsFault(labels)

  function submit() {
    if (objection) return
    const form = { priority, kind, rhythm, labels: recordOf(labels) }
    change.mutate(wishOf(before, form), { onSuccess: onClose })
  }

  return (
    <Confirm
      title="Edit seed"
      onClose={onClose}
      onConfirm={submit}
      label="Save changes"
      change={change}
      needs="seeds.manage"
      objection={objection}
      pointers={POINTERS}
    >
      <p className="font-medium [overflow-wrap:anywhere]">{seed.url ?? seed.original_url}</p>
      <TextField
        label="Priority"
        value={priority}
        onChange={setPriority}
        inputMode="numeric"
        hint="0 to 100; higher is handed out first."
        fault={faultAt(error, '/priority')}
        isFirst
      />
      <RhythmFields rhythm={rhythm} onChange={setRhythm} error={error} />
      <TextField label="Kind" value={kind} onChange={setKind} fault={faultAt(error, '/kind')} />
      <Pairs
        legend="Labels"
        noun="Label"
        pairs={labels}
        onChange={setLabels}
        fault={faultAt(error, '/labels')}
      />
    </Confirm>
  )
}
