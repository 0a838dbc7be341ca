// Goes on to another phase, or back to one. Going on takes proof, or somebody who answers for it.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { Select, TextField } from '@/kit/Field'
import { Warning } from '@/kit/states'
import { useMove } from './api'
import { isAfter, isGate, isProven, ORDER, PHASES } from './phases'
import type { OnePlatform, Parity, Phase } from './types'

type Props = {
  platform: OnePlatform
  way: 'on' | 'back'
  /** Of all results, if they were compared. */
  report: Parity | undefined
  onClose: () => void
}

/** The phases one can go to, the nearest first. */
export function within(now: Phase, way: Props['way']): Phase[] {
  return way === 'on'
    ? ORDER.filter((one) => isAfter(one, now))
    : ORDER.filter((one) => isAfter(now, one)).reverse()
}

export function PhaseDialog({ platform, way, report, onClose }: Props) {
  const now = platform.writer.phase as Phase
  const choices = within(now, way)
  const [to, setTo] = useState<Phase>(choices[0] ?? now)
  const [override, setOverride] = useState('')
  const move = useMove(platform.platform)
  const { compare_at_least } = platform.policy.writer
  const isOpen = way === 'back' || (report !== undefined && isProven(report, compare_at_least))
  const needsOverride = !isOpen && (report !== undefined || isGate(move.error))
  const reason = override.trim()
  const name = PHASES[to].label.toLowerCase()
  const verb = way === 'on' ? 'Promote' : 'Roll back'
  return (
    <Confirm
      title={`${verb} ${platform.platform}`}
      label={needsOverride ? `${verb} to ${name} all the same` : `${verb} to ${name}`}
      needs="jobs.manage"
      change={move}
      objection={needsOverride && !reason ? 'Say why it may go on although the gate is closed.' : null}
      onConfirm={() => move.mutate({ phase: to, override: reason || null }, { onSuccess: onClose })}
      onClose={onClose}
      isHard={needsOverride}
      pointers={['/override']}
    >
      {needsOverride && report && (
        <Warning>
          {report.equal.toLocaleString('en')} of {report.compared.toLocaleString('en')} chunks are the same in
          both places; {compare_at_least.toLocaleString('en')} must have been compared, and all be the same.
        </Warning>
      )}
      <Select
        label="To phase"
        value={to}
        onChange={setTo}
        options={Object.fromEntries(choices.map((one) => [one, PHASES[one].label])) as Record<Phase, string>}
        hint={PHASES[to].means}
      />
      {way === 'on' && !report && !needsOverride && (
        <p className="text-soft">Both places are compared first. Where they differ it is refused.</p>
      )}
      {way === 'back' && <p className="text-soft">Going back is always allowed, and is in the audit.</p>}
      {needsOverride && (
        <TextField
          label="Reason for the override"
          value={override}
          onChange={setOverride}
          placeholder="the old store lost a day, and we know"
          hint="Kept in the audit with your name and what was compared."
          fault={faultAt(move.error, '/override')}
          isFirst
        />
      )}
    </Confirm>
  )
}
