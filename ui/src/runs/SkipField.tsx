// Whether a run leaves out what earlier ones collected lately, and what is known of that before it begins.
import { Select } from '@/kit/Field'
import type { Collector, Estimate } from './types'

const DAYS: Record<string, string> = { 1: 'day', 7: '7 days', 30: '30 days', 90: '90 days' }

/** How many days an address asks for; null when it asks for none that can be. */
export function skippedDays(text: string): number | null {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= 365 ? days : null
}

type Props = {
  days: number | null
  onChange: (days: string) => void
  estimate: Estimate
  collector: Collector
}

export function SkipField({ days, onChange, estimate, collector }: Props) {
  const shown = String(days ?? estimate.lately_days)
  const there = estimate.forecast.some((one) => one.collected_lately > 0)
  if (!there && days === null) return null
  return (
    <fieldset className="flex flex-col gap-1.5 border-t border-line px-4 py-3">
      <legend className="sr-only">Collected lately</legend>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <label className="flex cursor-pointer items-center gap-2">
          <input
            type="checkbox"
            checked={days !== null}
            onChange={() => onChange(days === null ? shown : '')}
            className="size-4 shrink-0 accent-accent"
          />
          Skip what was collected in the last
        </label>
        <Select
          label="Days"
          isLabelHidden
          className="w-28"
          value={shown}
          onChange={onChange}
          options={{ ...DAYS, [shown]: DAYS[shown] ?? `${shown} days` }}
        />
      </div>
      <ul className="text-xs/5">
        {estimate.items.map((line, index) => (
          <li key={line.category}>
            {named(collector, line.category)}:{' '}
            <span className="font-medium">
              {(estimate.forecast[index]?.collected_lately ?? 0).toLocaleString('en')}
            </span>{' '}
            of up to {line.items.toLocaleString('en')}
          </li>
        ))}
      </ul>
      <p className="text-xs text-soft">
        Items are found while the run goes: those of them that are listed again are skipped, and cost nothing.
      </p>
    </fieldset>
  )
}

const named = ({ categories }: Collector, id: string) => categories.find((one) => one.id === id)?.name ?? id
