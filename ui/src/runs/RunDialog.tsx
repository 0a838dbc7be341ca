// Starts, steers or ends a run from the list, or gives it more money; each after asking once.
import { Ban, Copy, Pause, Play, SlidersHorizontal, Wallet } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import type { BulkAct } from '@/kit/choosing'
import { TextField } from '@/kit/Field'
import type { MenuItem } from '@/kit/Menu'
import { dollars, microsOf, money, moneyAtMost } from '@/kit/money'
import { type Act, acted, useAct, useRaise } from './api'
import { projectedCost } from './projection'
import { SteerDialog } from './SteerDialog'
import { spendingText } from './signs'
import { isOver } from './states'
import type { Run } from './types'

export type Asking = Act | 'raise' | 'steer' | 'again'
export type Open = { act: Asking; run: Run }

export function objectionTo(act: Asking, run: Run): string | null {
  if (act === 'again') return null
  if (isOver(run)) return 'It is over.'
  if (act === 'start') return run.status === 'pending' && !run.sub_status ? null : 'It was started.'
  if (act === 'pause') return run.status === 'running' ? null : 'It is not running.'
  if (act === 'resume') return run.status === 'paused' ? null : 'It is not paused.'
  return null
}

/** Where the same can be planned again. */
export function again(run: Run): string {
  const query = new URLSearchParams({ collector: run.collector, categories: run.categories.join(',') })
  if (run.skip_collected_days) query.set('skip', String(run.skip_collected_days))
  return `/runs/new?${query}`
}

const ALWAYS = new Set<Asking>(['again', 'raise', 'steer', 'cancel'])

export function menuOf(run: Run, onAct: (act: Asking) => void): MenuItem[] {
  const items: [Asking, string, MenuItem['icon']][] = [
    ['start', 'Start', Play],
    ['pause', 'Pause', Pause],
    ['resume', 'Resume', Play],
    ['raise', 'Change the cap', Wallet],
    ['steer', 'Change the run', SlidersHorizontal],
    ['again', 'Run like this', Copy],
    ['cancel', 'Cancel', Ban],
  ]
  return items
    .filter(([act]) => ALWAYS.has(act) || objectionTo(act, run) === null)
    .map(([act, label, icon]) => ({
      label,
      icon,
      needs: 'runs.manage',
      objection: objectionTo(act, run),
      onSelect: () => onAct(act),
      isDanger: act === 'cancel',
    }))
}

const several = (act: Act, label: string, icon: MenuItem['icon']): BulkAct<Run> => ({
  ...{ label, icon, isHard: act === 'cancel' },
  fits: (run) => objectionTo(act, run) === null,
  act: ({ id }) => acted(id, act),
})

/** The same to several. */
export const BULK = [
  several('pause', 'Pause', Pause),
  several('resume', 'Resume', Play),
  several('cancel', 'Cancel', Ban),
]

type Props = { run: Run; onClose: () => void }

export function RunDialog({ act, ...props }: Props & { act: Asking }) {
  if (act === 'raise') return <CapDialog {...props} />
  if (act === 'steer') return <SteerDialog {...props} />
  if (act === 'again') return <Again {...props} />
  return <ActDialog act={act} {...props} />
}

function Again({ run, onClose }: Props) {
  const navigate = useNavigate()
  return (
    <Confirm
      title="Run like this"
      label="Plan it"
      needs="runs.manage"
      change={{ error: null, isPending: false }}
      onConfirm={() => navigate(again(run))}
      onClose={onClose}
    >
      <p>
        The same collector and categories, at the prices of today. You see what it may cost before it begins.
      </p>
    </Confirm>
  )
}

const WORDS: Record<Act, { title: string; what: (run: Run) => string }> = {
  start: {
    title: 'Start the run',
    what: (run) => `It may cost up to ${moneyAtMost(run.estimated_cost_micros)} and never more than its cap.`,
  },
  pause: {
    title: 'Pause the run',
    what: () => 'No further item begins. What workers have in hand is finished and paid for.',
  },
  resume: { title: 'Resume the run', what: (run) => `It goes on within its cap: ${spendingText(run)}.` },
  cancel: {
    title: 'Cancel the run',
    what: () =>
      'It ends for ever. What was collected stays; what no worker has in hand is given back to the budget.',
  },
}

function ActDialog({ act, run, onClose }: Props & { act: Act }) {
  const change = useAct(run.id)
  const { title, what } = WORDS[act]
  const label = act === 'start' ? `Start run — up to ${moneyAtMost(run.estimated_cost_micros)}` : title
  return (
    <Confirm
      title={title}
      label={label}
      needs="runs.manage"
      change={change}
      onConfirm={() => change.mutate(act, { onSuccess: onClose })}
      onClose={onClose}
      isHard={act === 'cancel'}
    >
      <p className="font-medium">{run.name}</p>
      <p>{what(run)}</p>
    </Confirm>
  )
}

const CAP = '/budget_cap_micros'

function CapDialog({ run, onClose }: Props) {
  const change = useRaise(run)
  const isWaiting = run.pause_reason === 'budget'
  const projected = projectedCost(run)
  const [typed, setTyped] = useState(dollars(Math.max(projected, run.budget_cap_micros)))
  const cap = microsOf(typed)
  const least = run.actual_cost_micros + run.reserved_cost_micros
  const fault = complaint(cap, least) ?? faultAt(change.error, CAP)
  return (
    <Confirm
      title={isWaiting ? 'Raise cap and resume' : 'Change the cap'}
      label={isWaiting ? `Resume — up to ${cap === null ? '…' : money(cap)}` : 'Change the cap'}
      needs="runs.manage"
      change={change}
      onConfirm={() => {
        if (cap !== null && !complaint(cap, least)) change.mutate(cap, { onSuccess: onClose })
      }}
      onClose={onClose}
      pointers={[CAP]}
    >
      <p>
        {spendingText(run)}. At what it has cost so far it ends at about{' '}
        <strong className="font-semibold">{money(projected)}</strong>.
      </p>
      <TextField
        label="Cap of this run"
        value={typed}
        onChange={setTyped}
        inputMode="decimal"
        after="dollars"
        fault={fault}
        hint={`Not below ${money(least)}, which is spent or reserved.`}
        isFirst
      />
      <div className="flex flex-wrap gap-2">
        {[projected, Math.round(projected * 1.25), run.budget_cap_micros * 2].map((micros) => (
          <button
            key={micros}
            type="button"
            onClick={() => setTyped(dollars(micros))}
            className="rounded-full border border-line px-2.5 py-0.5 text-xs hover:bg-hover"
          >
            {money(micros)}
          </button>
        ))}
      </div>
    </Confirm>
  )
}

function complaint(cap: number | null, least: number): string | undefined {
  if (cap === null) return 'This is no amount of dollars.'
  return cap < least ? `${money(least)} are spent or reserved already: not below that.` : undefined
}
