// The cap of one run: typed, or taken from what the run is likely to cost.
import { TextField } from '@/kit/Field'
import { dollars, microsOf, money } from '@/kit/money'
import type { Estimate } from './types'

const CENT = 10_000

/** What is wrong with a cap that was typed; null when nothing is, or nothing was typed. */
export function capFault(typed: string, estimate: Estimate | undefined): string | null {
  if (typed.trim() === '') return null
  const cap = microsOf(typed)
  if (cap === null) return 'This is no amount of dollars.'
  if (!estimate) return null
  const most = estimate.organisation_cap_micros
  if (cap > most) return `Not above ${money(most)}, which the organisation allows.`
  const least = leastOf(estimate)
  return cap < least || cap === 0 ? `It bears no item: one may cost ${money(least)}.` : null
}

const leastOf = ({ items }: Estimate) => Math.max(...items.map((line) => line.unit_cost_micros ?? 0))

/** What may be chosen at a press, in whole cents and within what the organisation allows. */
function presets(estimate: Estimate): [string, number][] {
  const { expected_cost_micros: expected, high_cost_micros: high, organisation_cap_micros: most } = estimate
  const rounded = (micros: number) => Math.min(most, Math.max(CENT, Math.ceil(micros / CENT) * CENT))
  return [
    ['Expected', rounded(expected)],
    ['High', rounded(high)],
    ['High + 25 %', rounded(high * 1.25)],
  ]
}

type Props = { typed: string; onChange: (typed: string) => void; estimate: Estimate; fault: string | null }

export function CapField({ typed, onChange, estimate, fault }: Props) {
  return (
    <div className="flex flex-col gap-2 border-t border-line px-4 py-3">
      <TextField
        label="Cap of this run (optional)"
        value={typed}
        onChange={onChange}
        inputMode="decimal"
        after="dollars"
        placeholder={dollars(estimate.organisation_cap_micros)}
        fault={fault ?? undefined}
        hint="There it pauses, and waits for you. Left empty it is the organisation’s."
      />
      <div className="flex flex-wrap gap-2">
        {presets(estimate).map(([label, micros]) => (
          <button
            key={label}
            type="button"
            aria-pressed={microsOf(typed) === micros}
            onClick={() => onChange(dollars(micros))}
            className="rounded-full border border-line px-2.5 py-0.5 text-xs hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-wash"
          >
            {label} <span className="text-soft">{money(micros)}</span>
          </button>
        ))}
      </div>
    </div>
  )
}
