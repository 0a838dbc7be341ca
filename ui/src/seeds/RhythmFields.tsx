// How often a seed is visited: the interval it begins with, and the bounds it adapts within.
import { faultAt } from '@/api/problems'
import { TextField } from '@/kit/Field'
import { NO_SPAN, typedSpan } from './spans'

export type Rhythm = { interval: string; least: string; most: string }

export const NO_RHYTHM: Rhythm = { interval: '', least: '', most: '' }

/** What is wrong before anybody is asked, or null. */
export function rhythmFault(rhythm: Rhythm): string | null {
  return Object.values(rhythm).some((text) => typedSpan(text) === undefined) ? NO_SPAN : null
}

type Props = {
  rhythm: Rhythm
  onChange: (rhythm: Rhythm) => void
  error: unknown
  /** Where the fields are in what was sent. */
  under?: string
}

const FIELDS = {
  interval: { label: 'Interval', name: 'interval_seconds', usual: '1 h' },
  least: { label: 'Never below', name: 'min_interval_seconds', usual: '1 min' },
  most: { label: 'Never above', name: 'max_interval_seconds', usual: '14 d' },
} as const

export function rhythmPointers(under = ''): string[] {
  return Object.values(FIELDS).map(({ name }) => `${under}/${name}`)
}

export function RhythmFields({ rhythm, onChange, error, under = '' }: Props) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="sr-only">How often it is visited</legend>
      <div className="grid gap-3 sm:grid-cols-3">
        {(Object.keys(FIELDS) as (keyof Rhythm)[]).map((key) => (
          <TextField
            key={key}
            label={FIELDS[key].label}
            value={rhythm[key]}
            onChange={(text) => onChange({ ...rhythm, [key]: text })}
            placeholder={FIELDS[key].usual}
            fault={
              typedSpan(rhythm[key]) === undefined ? NO_SPAN : faultAt(error, `${under}/${FIELDS[key].name}`)
            }
          />
        ))}
      </div>
      <p className="text-xs text-soft">
        The interval gets shorter when a visit finds something and longer when it does not, within the bounds.
      </p>
    </fieldset>
  )
}
