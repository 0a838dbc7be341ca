// Says so when the money runs out: in amber from the soft limit on, and with the way on where the cap is reached.
import { OctagonX, TriangleAlert, Wallet } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/kit/Button'
import { briefly, exactly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { paceOf } from '@/live/pace'
import { projectedCost, timeToCap } from './projection'
import { type Asking, RunDialog } from './RunDialog'
import { spendingText } from './signs'
import { isOver } from './states'
import type { Run } from './types'

export function BudgetBanner({ run }: { run: Run }) {
  const [asking, setAsking] = useState<Asking | null>(null)
  const used = run.actual_cost_micros + run.reserved_cost_micros
  const isSoft = used * 100 >= run.budget_cap_micros * run.soft_warning_percent && run.budget_cap_micros > 0
  const isFull = run.pause_reason === 'budget'
  if (isOver(run) || (!isFull && !isSoft)) return null
  const Icon = isFull ? OctagonX : TriangleAlert
  return (
    <section
      aria-label="Budget"
      className={`flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border px-4 py-3 ${isFull ? 'border-bad/30 bg-bad-wash text-bad' : 'border-warn/30 bg-warn-wash text-warn'}`}
    >
      <Icon aria-hidden size={18} className="shrink-0" />
      <div className="min-w-0 flex-1 basis-64">
        <p className="text-base font-medium">
          {isFull
            ? `Paused${since(run)} — the cap is reached.`
            : `More than ${run.soft_warning_percent} % of the cap is used.`}
        </p>
        <p>
          {spendingText(run)}. {isFull ? ends(run) : exhaustion(run)}
        </p>
      </div>
      {isFull && (
        <div className="flex flex-wrap gap-2">
          <Button look="primary" icon={Wallet} needs="runs.manage" onClick={() => setAsking('raise')}>
            Raise cap and resume
          </Button>
          <Button needs="runs.manage" onClick={() => setAsking('cancel')}>
            Stop and keep what is there
          </Button>
        </div>
      )}
      {asking && <RunDialog act={asking} run={run} onClose={() => setAsking(null)} />}
    </section>
  )
}

function since({ paused_at }: Run): string {
  return paused_at ? ` ${exactly(paused_at).slice(11)}` : ''
}

function ends(run: Run): string {
  return `At what it has cost so far it ends at about ${money(projectedCost(run))}.`
}

function exhaustion(run: Run): string {
  const seconds = timeToCap(run, paceOf(run.id))
  if (seconds !== null) return `At this pace the cap is reached in about ${briefly(seconds * 1000)}.`
  return projectedCost(run) > run.budget_cap_micros
    ? 'It will not be enough for all items.'
    : `It should be enough: ${ends(run)}`
}
