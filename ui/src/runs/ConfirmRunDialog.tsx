// The last question before money is spent; its button says how much that may be.
import { Confirm } from '@/kit/Confirm'
import { money, moneyAtMost } from '@/kit/money'
import { useBegin, useCounts } from './api'
import { EstimateTable } from './EstimateTable'
import { Verdict } from './ReviewPanel'
import type { Estimate, NewRun, Run } from './types'

type Props = {
  plan: NewRun
  estimate: Estimate
  idempotencyKey: string
  onClose: () => void
  onBegun: (run: Run) => void
}

export function ConfirmRunDialog({ plan, estimate, idempotencyKey, onClose, onBegun }: Props) {
  const change = useBegin()
  const { data: counts } = useCounts()
  const items = estimate.items.reduce((sum, line) => sum + line.items, 0)
  return (
    <Confirm
      title="Start this run?"
      label={`Start run — up to ${moneyAtMost(Math.min(estimate.total_cost_micros, estimate.budget_cap_micros))}`}
      needs="runs.manage"
      change={change}
      onConfirm={() => change.mutate({ plan, key: idempotencyKey }, { onSuccess: onBegun })}
      onClose={onClose}
    >
      <p>
        <strong className="font-semibold">{plan.collector}</strong> collects up to{' '}
        {items.toLocaleString('en')} items of{' '}
        {plan.categories.length === 1 ? 'one category' : `${plan.categories.length} categories`}. It never
        spends more than its cap of {money(estimate.budget_cap_micros)}: there it pauses, and waits for you.
      </p>
      <div className="overflow-hidden rounded-md border border-line">
        <EstimateTable estimate={estimate} />
        <Verdict estimate={estimate} />
      </div>
      {counts && counts.running > 0 && (
        <p className="text-soft">
          {counts.running} {counts.running === 1 ? 'run is' : 'runs are'} under way. If no slot is free it
          waits for one, and says how many are before it.
        </p>
      )}
    </Confirm>
  )
}
