// How many there are of each, as chips; pressed, one narrows the list down to it.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { INKS, type Tone } from './Badge'

export function Chips({ label, children }: { label: string; children: ReactNode }) {
  return (
    <fieldset className="flex flex-wrap gap-2">
      <legend className="sr-only">{label}</legend>
      {children}
    </fieldset>
  )
}

type Props = {
  label: string
  sign?: { icon: LucideIcon; tone: Tone }
  count: number | undefined
  /** How many more than when they were asked for before. */
  more?: number
  isOn: boolean
  onPress: () => void
}

export function Chip({ label, sign, count, more, isOn, onPress }: Props) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onPress}
      className="relative inline-flex h-8 items-center gap-1.5 rounded-full border border-line bg-panel px-3 text-sm shadow-raised hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-wash"
    >
      {sign && <sign.icon aria-hidden size={13} className={INKS[sign.tone]} />}
      {label}
      <span className={`font-semibold ${count ? '' : 'text-soft'}`}>
        {count?.toLocaleString('en') ?? '–'}
      </span>
      {more !== undefined && (
        <span
          title="Since the last refresh"
          className="absolute -top-1.5 right-0 rounded-full bg-accent px-1.5 text-2xs font-semibold text-on-accent"
        >
          +{more.toLocaleString('en')}
        </span>
      )}
    </button>
  )
}
