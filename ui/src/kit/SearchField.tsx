// The filter of a list. `/` jumps to it from anywhere on the page.
import { Search, X } from 'lucide-react'
import type { InputHTMLAttributes, KeyboardEvent, ReactNode, Ref } from 'react'
import { IconButton } from './Button'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  isMain?: boolean
  placeholder?: string
  /** What Enter does. */
  onEnter?: (value: string) => void
  /** What a field has that suggests what could be typed. */
  input?: InputHTMLAttributes<HTMLInputElement> & { ref: Ref<HTMLInputElement> }
  /** What hangs under it. */
  children?: ReactNode
}

export function SearchField(props: Props) {
  const { label, value, onChange, isMain, placeholder, onEnter, input, children } = props
  function press(event: KeyboardEvent<HTMLInputElement>) {
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key === 'Enter') onEnter?.(value)
  }

  return (
    <div className={`relative w-full ${children === undefined ? 'sm:w-72' : 'sm:w-96'}`}>
      <Search aria-hidden size={14} className="absolute top-2.5 left-2.5 text-soft" />
      <input
        aria-label={label}
        data-filter={isMain || undefined}
        value={value}
        placeholder={placeholder ?? label}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={press}
        className="h-8.5 w-full rounded-md border border-edge bg-panel pr-9 pl-8 text-sm focus-visible:outline-offset-0"
        {...input}
      />
      {children}
      {value ? (
        <IconButton
          icon={X}
          label="Clear"
          onClick={() => onChange('')}
          className="absolute top-0.5 right-0.5 !size-7.5"
        />
      ) : (
        isMain && (
          <kbd
            aria-hidden
            className="absolute top-2 right-2 hidden rounded border border-line px-1.5 font-mono text-2xs text-soft md:block"
          >
            /
          </kbd>
        )
      )}
    </div>
  )
}
