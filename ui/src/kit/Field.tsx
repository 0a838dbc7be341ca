// Form fields with their label, help and fault tied together for everybody, screen readers included.
import { ChevronRight } from 'lucide-react'
import { type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes, useId } from 'react'

type Frame = { label: string; hint?: ReactNode; fault?: string; className?: string; isLabelHidden?: boolean }
type Wiring = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }

const CONTROL =
  'w-full rounded-md border border-edge bg-panel px-2.5 text-sm text-ink focus-visible:outline-offset-0 aria-invalid:border-bad'

function Field({
  label,
  hint,
  fault,
  className = '',
  isLabelHidden,
  children,
}: Frame & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId()
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined
  return (
    <div className={`flex min-w-0 flex-col gap-1 ${className}`}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-xs font-medium'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': fault ? true : undefined })}
      {fault && (
        <p id={`${id}-fault`} role="alert" className="text-xs text-bad">
          {fault}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}

type TextProps = Frame &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'className'> & {
    value: string
    onChange: (value: string) => void
    isMono?: boolean
    isFirst?: boolean
    /** What stands in the field after the text: a unit, or a button. */
    after?: ReactNode
  }

export function TextField({
  label,
  hint,
  fault,
  className,
  isLabelHidden,
  onChange,
  isMono,
  isFirst,
  after,
  ...rest
}: TextProps) {
  return (
    <Field {...{ label, hint, fault, className, isLabelHidden }}>
      {(wiring) => (
        <div className="relative">
          <input
            autoComplete="off"
            spellCheck={false}
            {...wiring}
            {...rest}
            data-first={isFirst || undefined}
            onChange={(event) => onChange(event.target.value)}
            className={`${CONTROL} h-8 ${isMono ? 'font-mono' : ''} ${after ? 'pr-16' : ''}`}
          />
          {after && (
            <span className="absolute inset-y-0 right-2.5 flex items-center text-xs text-soft">{after}</span>
          )}
        </div>
      )}
    </Field>
  )
}

type AreaProps = Frame &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange' | 'className'> & {
    value: string
    onChange: (value: string) => void
  }

export function TextArea({ label, hint, fault, className, isLabelHidden, onChange, ...rest }: AreaProps) {
  return (
    <Field {...{ label, hint, fault, className, isLabelHidden }}>
      {(wiring) => (
        <textarea
          rows={3}
          spellCheck={false}
          {...wiring}
          {...rest}
          onChange={(event) => onChange(event.target.value)}
          className={`${CONTROL} field-sizing-content max-h-64 min-h-16 py-1.5 font-mono text-xs/5`}
        />
      )}
    </Field>
  )
}

type SelectProps<T extends string> = Frame & {
  value: T
  onChange: (value: T) => void
  options: Record<T, string>
}

export function Select<T extends string>({ value, onChange, options, ...frame }: SelectProps<T>) {
  return (
    <Field {...frame}>
      {(wiring) => (
        <select
          {...wiring}
          value={value}
          onChange={(event) => onChange(event.target.value as T)}
          className={`${CONTROL} h-8`}
        >
          {Object.entries<string>(options).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type Choice = { label: string; hint: string }
type ChoicesProps<T extends string> = {
  legend: string
  value: T
  onChange: (value: T) => void
  choices: Record<T, Choice>
}

/** Radio buttons whose meaning is spelled out, for choices that deserve a thought. */
export function Choices<T extends string>({ legend, value, onChange, choices }: ChoicesProps<T>) {
  const name = useId()
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">{legend}</legend>
      <div className="divide-y divide-line overflow-hidden rounded-md border border-line">
        {(Object.keys(choices) as T[]).map((key) => (
          <label
            key={key}
            className="flex cursor-pointer gap-2.5 px-3 py-2 hover:bg-hover has-checked:bg-accent-wash"
          >
            <input
              type="radio"
              name={name}
              checked={value === key}
              onChange={() => onChange(key)}
              aria-labelledby={`${name}-${key}`}
              aria-describedby={`${name}-${key}-hint`}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span id={`${name}-${key}`} className="block font-medium">
                {choices[key].label}
              </span>
              <span id={`${name}-${key}-hint`} className="block text-xs text-soft">
                {choices[key].hint}
              </span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

type DisclosureProps = { summary: string; isOpen?: boolean; children: ReactNode }

export function Disclosure({ summary, isOpen, children }: DisclosureProps) {
  return (
    <details open={isOpen} className="group rounded-md border border-line">
      <summary className="flex list-none items-center gap-1.5 rounded-md px-3 py-2 text-sm font-medium select-none hover:bg-hover">
        <ChevronRight aria-hidden size={14} className="transition-transform group-open:rotate-90" />
        {summary}
      </summary>
      <div className="border-t border-line p-3">{children}</div>
    </details>
  )
}
