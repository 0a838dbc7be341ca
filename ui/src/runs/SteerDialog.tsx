// Changes how a run goes on: how many items are in hand at once, and the categories nothing more is begun of.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { typedNumber } from '@/kit/typedNumber'
import { useSteer } from './api'
import type { Run, RunChange } from './types'

const PACE = '/max_in_flight'

export function SteerDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const change = useSteer(run.id)
  const [before] = useState(String(run.max_in_flight))
  const [most, setMost] = useState(before)
  const [dropped, setDropped] = useState<string[]>([])

  function submit() {
    const wish: RunChange = { drop_categories: dropped }
    if (most.trim() !== before) wish.max_in_flight = typedNumber(most)
    change.mutate(wish, { onSuccess: onClose })
  }

  return (
    <Confirm
      title="Change the run"
      label={dropped.length > 0 ? `Save and drop ${dropped.length}` : 'Save changes'}
      needs="runs.manage"
      change={change}
      objection={most.trim() === '' ? 'Say how many may be in hand.' : null}
      onConfirm={submit}
      onClose={onClose}
      pointers={[PACE]}
      isHard={dropped.length > 0}
    >
      <p className="font-medium">{run.name}</p>
      <TextField
        label="Items at once"
        value={most}
        onChange={setMost}
        inputMode="numeric"
        hint={`1 to 1,000; ${run.in_flight} are in hand now. Fewer go easier on the provider, more are done sooner.`}
        fault={faultAt(change.error, PACE)}
        isFirst
      />
      <Droppable run={run} dropped={dropped} onChange={setDropped} />
    </Confirm>
  )
}

type Props = { run: Run; dropped: string[]; onChange: (dropped: string[]) => void }

function Droppable({ run, dropped, onChange }: Props) {
  const there = run.categories.filter((name) => !run.dropped_categories.includes(name))
  if (there.length === 0) return <p className="text-soft">All its categories are dropped.</p>
  const toggled = (name: string) =>
    there.filter((one) => (one === name ? !dropped.includes(one) : dropped.includes(one)))
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">Drop categories</legend>
      <div className="max-h-48 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {there.map((name) => (
          <label
            key={name}
            className="flex cursor-pointer items-center gap-2 px-3 py-1.5 hover:bg-hover has-checked:bg-bad-wash"
          >
            <input
              type="checkbox"
              checked={dropped.includes(name)}
              onChange={() => onChange(toggled(name))}
              className="size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
          </label>
        ))}
      </div>
      <p className="text-xs text-soft">
        For ever. No more items of them begin, what no worker has in hand is given back to the budget, and
        what was collected stays.
      </p>
    </fieldset>
  )
}
