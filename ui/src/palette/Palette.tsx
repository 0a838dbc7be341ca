// Goes anywhere by name: typed into one field, chosen with the arrows.
import { Search } from 'lucide-react'
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { type Entry, useEntries } from './entries'

type Props = { onClose: () => void; onHelp: () => void }

export function Palette({ onClose, onHelp }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const entries = useEntries(typed, onHelp)
  // What is chosen stays chosen while more comes in; at first, and when it went, it is the first.
  const at = Math.max(
    0,
    entries.findIndex(({ key }) => key === chosen),
  )
  const current = entries[at]

  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true })
    }
  }, [])

  function take(entry: Entry | undefined) {
    if (!entry) return
    onClose()
    if (entry.to) navigate(entry.to)
    else entry.act?.()
  }

  function press(event: KeyboardEvent) {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key]
    if (event.key === 'Enter') {
      event.preventDefault()
      take(current)
    }
    if (to === undefined || entries.length === 0) return
    event.preventDefault()
    const isStep = event.key.startsWith('Arrow')
    const last = entries.length - 1
    const next = isStep ? (to + entries.length) % entries.length : Math.min(Math.max(to, 0), last)
    setChosen(entries[next]?.key ?? null)
    list.current?.querySelectorAll('[role=option]')[next]?.scrollIntoView({ block: 'nearest' })
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is for the backdrop; Esc does the same
    <dialog
      ref={dialog}
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
      className="mx-auto mt-[10dvh] mb-auto w-[calc(100vw-1rem)] max-w-xl overflow-hidden rounded-xl border border-line bg-panel p-0 text-ink shadow-float"
    >
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden size={16} className="shrink-0 text-soft" />
        <input
          role="combobox"
          aria-label="Go to a page, a thing or an action"
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current ? `${id}-${at}` : undefined}
          value={typed}
          placeholder="A page, a name, an id, an action …"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setTyped(event.target.value)
            setChosen(null)
          }}
          onKeyDown={press}
          className="h-12 w-full bg-transparent text-base outline-none"
        />
        <kbd className="hidden rounded border border-line px-1.5 font-mono text-2xs text-soft sm:block">
          Esc
        </kbd>
      </div>
      <div
        ref={list}
        id={id}
        role="listbox"
        aria-label="Where it leads"
        tabIndex={-1}
        className="max-h-[min(26rem,65dvh)] overflow-y-auto p-1.5"
      >
        {entries.map((entry, index) => (
          <Option
            key={entry.key}
            id={`${id}-${index}`}
            entry={entry}
            isChosen={index === at}
            heading={entry.group === entries[index - 1]?.group ? null : entry.group}
            onTake={() => take(entry)}
          />
        ))}
      </div>
      {entries.length === 0 && (
        <p role="status" className="px-4 pt-1 pb-6 text-center text-soft">
          Nothing is called that.
        </p>
      )}
    </dialog>
  )
}

type OptionProps = {
  id: string
  entry: Entry
  isChosen: boolean
  heading: string | null
  onTake: () => void
}

function Option({ id, entry: { icon: Icon, label, hint, group }, isChosen, heading, onTake }: OptionProps) {
  return (
    <>
      {heading && (
        <div role="presentation" className="px-2.5 pt-2 pb-1 text-2xs font-medium text-soft">
          {heading}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which says what is chosen */}
      <div
        id={id}
        role="option"
        aria-selected={isChosen}
        onClick={onTake}
        className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 hover:bg-hover aria-selected:bg-accent-wash aria-selected:text-accent-strong"
      >
        <Icon aria-hidden size={15} className="shrink-0 text-soft" />
        <span className="min-w-0 flex-1 truncate">
          {label}
          <span className="sr-only">in {group}</span>
        </span>
        {hint && <span className="max-w-[45%] truncate text-xs text-soft">{hint}</span>}
      </div>
    </>
  )
}
