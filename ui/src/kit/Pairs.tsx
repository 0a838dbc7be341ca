// Names with their values, as rows of two fields: labels, and the parts of a secret.
import { Eye, EyeOff, Plus, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button, IconButton } from './Button'
import { TextField } from './Field'

export type Pair = { id: number; name: string; value: string }

let last = 0

export function newPair(name = '', value = ''): Pair {
  last += 1
  return { id: last, name, value }
}

/** Rows without a name say nothing. */
export function recordOf(pairs: Pair[]): Record<string, string> {
  const named = pairs.filter((pair) => pair.name.trim() !== '')
  return Object.fromEntries(named.map((pair) => [pair.name.trim(), pair.value]))
}

/** What is wrong with the rows before anybody is asked, or null. */
export function pairsFault(pairs: Pair[]): string | null {
  const names = pairs.map((pair) => pair.name.trim()).filter(Boolean)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) return `“${twice}” is named twice.`
  return pairs.some((pair) => pair.value !== '' && pair.name.trim() === '') ? 'A value has no name.' : null
}

type Props = {
  legend: string
  /** One of them, as the fields are called: `label` makes “Label 1 name”. */
  noun: string
  pairs: Pair[]
  onChange: (pairs: Pair[]) => void
  hint?: ReactNode
  fault?: string
  isSecret?: boolean
}

export function Pairs({ legend, noun, pairs, onChange, hint, fault, isSecret }: Props) {
  const own = pairsFault(pairs) ?? fault
  const change = (id: number, part: Partial<Pair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)))
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 text-xs font-medium">{legend}</legend>
      {pairs.map((pair, index) => (
        <div key={pair.id} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] gap-1.5">
          <TextField
            label={`${noun} ${index + 1} name`}
            isLabelHidden
            value={pair.name}
            onChange={(name) => change(pair.id, { name })}
            placeholder="name"
            isMono
          />
          <Value
            label={`${noun} ${index + 1} value`}
            value={pair.value}
            onChange={(value) => change(pair.id, { value })}
            isSecret={isSecret}
          />
          <IconButton
            icon={X}
            label={`Remove ${noun.toLowerCase()} ${index + 1}`}
            onClick={() => onChange(pairs.filter((other) => other.id !== pair.id))}
          />
        </div>
      ))}
      <div>
        <Button look="quiet" icon={Plus} className="-ml-3" onClick={() => onChange([...pairs, newPair()])}>
          Add {noun.toLowerCase()}
        </Button>
      </div>
      {own && (
        <p role="alert" className="text-xs text-bad">
          {own}
        </p>
      )}
      {hint && <p className="text-xs text-soft">{hint}</p>}
    </fieldset>
  )
}

type ValueProps = { label: string; value: string; onChange: (value: string) => void; isSecret?: boolean }

function Value({ label, value, onChange, isSecret }: ValueProps) {
  const [isShown, setIsShown] = useState(false)
  const field = { label, isLabelHidden: true, value, onChange, placeholder: 'value', isMono: true }
  if (!isSecret) return <TextField {...field} />
  return (
    <TextField
      {...field}
      type={isShown ? 'text' : 'password'}
      // Browsers would fill in, or offer to keep, what is somebody else's password.
      autoComplete="new-password"
      after={
        <IconButton
          icon={isShown ? EyeOff : Eye}
          label={isShown ? `Hide ${label.toLowerCase()}` : `Show ${label.toLowerCase()}`}
          onClick={() => setIsShown(!isShown)}
          className="-mr-2 !size-7"
        />
      }
    />
  )
}
