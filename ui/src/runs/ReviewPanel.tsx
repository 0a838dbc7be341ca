// What the chosen categories may cost, line by line, against the cap; and what to do when that is too much.
import { CircleCheck, type LucideIcon, OctagonX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import type { useEstimate } from './api'
import { EstimateTable } from './EstimateTable'
import type { Collector, Estimate } from './types'

type Props = {
  collector: Collector
  chosen: string[]
  query: ReturnType<typeof useEstimate>
  /** Why the cap that was typed cannot be. */
  capFault: string | null
  /** What more can be chosen, given what it may cost. */
  choices: (estimate: Estimate) => ReactNode
  /** The way on, given why it is barred. */
  children: (objection: string | null) => ReactNode
}

export function ReviewPanel({ collector, chosen, query, capFault, choices, children }: Props) {
  const { data, error, refetch, isFetching, isPlaceholderData } = query
  const isChosen = chosen.length > 0
  const known = isChosen ? data : undefined
  return (
    <Panel title="2. Review" lead="By what earlier runs did cost, and at the most at the prices of today.">
      {error ? (
        <div className="p-4">
          <Failure
            what="It could not be estimated."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        </div>
      ) : !isChosen ? (
        <p className="px-4 py-10 text-center text-soft">Choose a category to see what it may cost.</p>
      ) : known ? (
        <div aria-busy={isPlaceholderData || undefined}>
          <EstimateTable estimate={known} collector={collector} />
          {choices(known)}
          <Verdict estimate={known} />
        </div>
      ) : (
        <div role="status" aria-busy="true" aria-label="Estimating" className="skeleton m-4 h-32" />
      )}
      <div className="flex justify-end border-t border-line px-4 py-3">
        {children(barred(isChosen, known) ?? capFault)}
      </div>
    </Panel>
  )
}

function barred(isChosen: boolean, estimate: Estimate | undefined): string | null {
  if (!isChosen) return 'Choose a category first.'
  if (!estimate) return 'It is being estimated.'
  if (withoutPrice(estimate).length > 0) return 'Nobody knows what it may cost.'
  return estimate.verdict === 'blocked' ? 'It may cost more than the cap.' : null
}

const withoutPrice = ({ items }: Estimate) =>
  items.filter((line) => line.unit_cost_micros === null).map((line) => line.category)

const LOOKS: Record<Estimate['verdict'], { icon: LucideIcon; look: string }> = {
  ok: { icon: CircleCheck, look: 'bg-good-wash text-good' },
  warn: { icon: TriangleAlert, look: 'bg-warn-wash text-warn' },
  blocked: { icon: OctagonX, look: 'bg-bad-wash text-bad' },
}

export function Verdict({ estimate }: { estimate: Estimate }) {
  const { icon: Icon, look } = LOOKS[estimate.verdict]
  return (
    <div role="status" aria-label="Verdict" className={`flex gap-2 border-t border-line px-4 py-3 ${look}`}>
      <Icon aria-hidden size={16} className="mt-0.5 shrink-0" />
      <p>{worded(estimate)}</p>
    </div>
  )
}

function worded(estimate: Estimate): ReactNode {
  const { verdict, total_cost_micros: total, budget_cap_micros: most, pauses_near_item: near } = estimate
  const unknown = withoutPrice(estimate)
  if (unknown.length > 0)
    return `Blocked: nobody wrote down what ${unknown.join(', ')} cost. Add the price to prices.yaml, or leave it out.`
  const share = most > 0 ? Math.round((100 * total) / most) : 100
  if (verdict === 'blocked') return <TooMuch estimate={estimate} />
  if (near !== null)
    return `The cap of ${money(most)} is below what is expected: likely to pause near item ${near.toLocaleString('en')}.`
  if (total > most) return `Within the cap of ${money(most)} as expected; at the most it may pause there.`
  if (verdict === 'ok') return `Within the cap of ${money(most)}: ${share} % of it.`
  return `Within the cap of ${money(most)}, but ${share} % of it: it may warn on its way.`
}

function TooMuch({ estimate }: { estimate: Estimate }) {
  const { total_cost_micros: total, organisation_cap_micros: most } = estimate
  return (
    <>
      Blocked: {money(total - most)} more than the cap of {money(most)}. Choose fewer categories, or have the
      cap raised in the{' '}
      <Link to="/settings" className="underline">
        settings
      </Link>
      .
    </>
  )
}
