// A search field that says what could be typed next: keys, then what is known of each. Arrows, Enter and Tab choose.
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { type Key, type Suggestion, suggest } from './grammar'
import { SearchField } from './SearchField'

type Props = {
  label: string
  placeholder: string
  value: string
  onChange: (value: string) => void
  onEnter: (value: string) => void
  keys: Key[]
  /** Somebody is about to type: what takes asking for can be asked for. */
  onFocus: () => void
}

export function SuggestField({ label, placeholder, value, onChange, onEnter, keys, onFocus }: Props) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [caret, setCaret] = useState(0)
  // Where the caret belongs once a suggestion was taken; React puts it at the end.
  const [goal, setGoal] = useState<number | null>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const found = isOpen ? suggest(value, caret, keys) : []
  const current = found[at]

  useLayoutEffect(() => {
    if (goal === null) return
    field.current?.setSelectionRange(goal, goal)
    setGoal(null)
  }, [goal])

  function look() {
    setCaret(field.current?.selectionStart ?? value.length)
    setAt(-1)
  }

  function take({ text, caret: after, isKey }: Suggestion) {
    onChange(text)
    setCaret(after)
    setGoal(after)
    setAt(-1)
    setIsOpen(isKey)
    field.current?.focus()
  }

  function press(event: KeyboardEvent<HTMLInputElement>) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      if (!isOpen) setIsOpen(true)
      // One place more than there are: the field itself, from where Enter searches.
      else setAt(((at + 1 + step + found.length + 1) % (found.length + 1)) - 1)
    } else if (event.key === 'Enter') {
      if (current) take(current)
      else {
        setIsOpen(false)
        onEnter(value)
      }
    } else if (event.key === 'Tab' && !event.shiftKey) {
      const chosen = current ?? (isTyping(value, caret) ? found[0] : undefined)
      if (!chosen) return
      event.preventDefault()
      take(chosen)
    } else if (event.key === 'Escape') {
      if (found.length > 0) setIsOpen(false)
      else event.currentTarget.blur()
    }
  }

  return (
    <SearchField
      {...{ label, placeholder, value }}
      isMain
      onChange={(text) => {
        onChange(text)
        setIsOpen(true)
        look()
      }}
      input={{
        ref: field,
        role: 'combobox',
        'aria-autocomplete': 'list',
        'aria-expanded': found.length > 0,
        'aria-controls': id,
        'aria-activedescendant': current ? `${id}-${at}` : undefined,
        onKeyDown: press,
        onFocus: () => {
          onFocus()
          look()
          setIsOpen(true)
        },
        onBlur: () => setIsOpen(false),
        // The caret may have moved without anything being typed.
        onSelect: () => setCaret(field.current?.selectionStart ?? value.length),
      }}
    >
      <div
        id={id}
        role="listbox"
        aria-label="What could be typed"
        hidden={found.length === 0}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-72 overflow-y-auto rounded-lg border border-line bg-panel p-1 shadow-float"
      >
        {found.map((one, index) => (
          <Option
            key={one.label}
            id={`${id}-${index}`}
            one={one}
            isChosen={index === at}
            onTake={() => take(one)}
          />
        ))}
      </div>
    </SearchField>
  )
}

/** Whether the caret is in a word and not between two. */
function isTyping(text: string, caret: number): boolean {
  return /\S$/.test(text.slice(0, caret))
}

type OptionProps = { id: string; one: Suggestion; isChosen: boolean; onTake: () => void }

function Option({ id, one: { label, hint }, isChosen, onTake }: OptionProps) {
  const row = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which says what is chosen
    <div
      ref={row}
      id={id}
      role="option"
      aria-selected={isChosen}
      // Before the field loses the focus, which would close the list under the pointer.
      onMouseDown={(event) => {
        event.preventDefault()
        onTake()
      }}
      className="flex cursor-pointer items-baseline gap-3 rounded-md px-2.5 py-1.5 hover:bg-hover aria-selected:bg-accent-wash aria-selected:text-accent-strong"
    >
      <span className="min-w-0 shrink-0 truncate font-mono text-xs/5">{label}</span>
      {hint && <span className="min-w-0 truncate text-xs text-soft">{hint}</span>}
    </div>
  )
}
