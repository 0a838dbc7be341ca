// Lets a platform bear more or less for a while, and says before what that would do.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { Select, TextField } from '@/kit/Field'
import { useSettled } from '@/kit/useSettled'
import { useChangeLimits, useLimitsPreview } from './api'
import { type Form, LENGTHS, type Length, startOf, untilOf, wishOf } from './limitsForm'
import { rateText } from './signs'
import type { LimitsWish, OnePlatform } from './types'

const POINTERS = ['/concurrency', '/rate/tasks', '/rate/per_seconds', '/rate/burst', '/reason', '/until']

export function LimitsDialog({ platform, onClose }: { platform: OnePlatform; onClose: () => void }) {
  const [form, setForm] = useState<Form>(() => startOf(platform))
  const [length, setLength] = useState<Length>('1h')
  const [reason, setReason] = useState('')
  const change = useChangeLimits(platform.platform)
  const { wish, fault } = wishOf(form, platform)
  const set = (name: keyof Form) => (value: string) => setForm((before) => ({ ...before, [name]: value }))
  const objection = fault ?? (reason.trim() ? null : 'Say why.')

  function submit() {
    if (objection || !wish) return
    change.mutate({ ...wish, reason: reason.trim(), until: untilOf(length) }, { onSuccess: onClose })
  }

  return (
    <Confirm
      title={`Change the limits of ${platform.platform}`}
      label="Change limits"
      needs="jobs.manage"
      change={change}
      objection={objection}
      onConfirm={submit}
      onClose={onClose}
      pointers={POINTERS}
    >
      <p>
        They count at once and for all organisations. Its file stays as it is, and counts again when this is
        over.
      </p>
      <TextField
        label="At once"
        inputMode="numeric"
        value={form.concurrency}
        onChange={set('concurrency')}
        hint={`Tasks in hand. The file says ${fileOf(platform).concurrency.toLocaleString('en')}.`}
        fault={faultAt(change.error, '/concurrency')}
        isFirst
      />
      <Rates platform={platform} form={form} set={set} error={change.error} />
      <Select label="For" value={length} onChange={setLength} options={LENGTHS} />
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        placeholder="they allow us more tonight"
        hint="Shown beside it, and at every job that waits because of it."
        fault={faultAt(change.error, '/reason')}
      />
      <Preview slug={platform.platform} wish={wish} />
    </Confirm>
  )
}

function fileOf(platform: OnePlatform) {
  return platform.limits_override?.file ?? platform
}

type RatesProps = {
  platform: OnePlatform
  form: Form
  set: (name: keyof Form) => (value: string) => void
  error: unknown
}

function Rates({ platform, form, set, error }: RatesProps) {
  const { rate } = fileOf(platform)
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium">Rate</legend>
      <div className="grid grid-cols-3 gap-2">
        <TextField
          label="Tasks"
          inputMode="numeric"
          value={form.tasks}
          onChange={set('tasks')}
          fault={faultAt(error, '/rate/tasks')}
        />
        <TextField
          label="In seconds"
          inputMode="decimal"
          value={form.seconds}
          onChange={set('seconds')}
          fault={faultAt(error, '/rate/per_seconds')}
        />
        <TextField
          label="Burst"
          inputMode="numeric"
          value={form.burst}
          onChange={set('burst')}
          fault={faultAt(error, '/rate/burst')}
        />
      </div>
      <p className="mt-1 text-xs text-soft">
        The file says {rate ? `${rateText(rate)}, ${rate.burst.toLocaleString('en')} at once` : 'no limit'}.
        Empty is as the file says.
      </p>
    </fieldset>
  )
}

/** What it would do, as far as one can tell now. */
function Preview({ slug, wish }: { slug: string; wish: LimitsWish | null }) {
  const settled = useSettled(JSON.stringify(wish))
  const { data, error } = useLimitsPreview(slug, JSON.parse(settled) as LimitsWish | null)
  if (error) return null
  return (
    <p role="status" className="rounded-md border border-line bg-sunken px-3 py-2">
      {data && wish ? told(data) : 'Say what is to be another.'}
    </p>
  )
}

type Told = { would_start: number; over_by: number; in_flight: number; waiting: number }

function told({ would_start, over_by, in_flight, waiting }: Told): string {
  const now = `${in_flight.toLocaleString('en')} in flight, ${waiting.toLocaleString('en')} waiting.`
  if (over_by > 0) {
    return `Has ${over_by.toLocaleString('en')} more in hand than that. They go on; nothing begins until there are fewer. ${now}`
  }
  if (would_start === 0) return `Would start no waiting job. ${now}`
  return `Would start ${would_start.toLocaleString('en')} waiting job${would_start === 1 ? '' : 's'}. ${now}`
}
