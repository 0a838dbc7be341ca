// The actions of a row behind one button. A popover of the browser's own: above everything, closed by Esc or a click elsewhere.
import { Ellipsis, type LucideIcon } from 'lucide-react'
import { type KeyboardEvent, type ToggleEvent, useEffect, useId, useRef, useState } from 'react'
import { useObjection } from '@/api/permissions'
import type { Permission } from '@/api/types'

export type MenuItem = {
  label: string
  icon: LucideIcon
  onSelect: () => void
  needs?: Permission
  /** Why it cannot be chosen now. */
  objection?: string | null
  isDanger?: boolean
  /** Of one that is switched on and off, and leaves the menu open for the next. */
  isOn?: boolean
}

type Place = { right: number; top?: number; bottom?: number }

const GAP_PX = 4

function placeAt(button: HTMLElement): Place {
  const box = button.getBoundingClientRect()
  const right = document.documentElement.clientWidth - box.right
  return box.top < window.innerHeight / 2
    ? { right, top: box.bottom + GAP_PX }
    : { right, bottom: window.innerHeight - box.top + GAP_PX }
}

type Props = { label: string; icon?: LucideIcon; items: MenuItem[]; note?: string }

export function Menu({ label, icon: Icon = Ellipsis, items, note }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState<Place | null>(null)
  const isOpen = place !== null

  useEffect(() => {
    if (!isOpen) return
    // It stands above the page and not on it, so it has to follow when the page moves.
    const follow = () => button.current && setPlace(placeAt(button.current))
    window.addEventListener('scroll', follow, { capture: true })
    window.addEventListener('resize', follow)
    return () => {
      window.removeEventListener('scroll', follow, { capture: true })
      window.removeEventListener('resize', follow)
    }
  }, [isOpen])

  function prepare(event: ToggleEvent<HTMLDivElement>) {
    setPlace(event.newState === 'open' && button.current ? placeAt(button.current) : null)
  }

  function arrive(event: ToggleEvent<HTMLDivElement>) {
    if (event.newState !== 'open') return
    menu.current?.querySelector<HTMLElement>('[role^=menuitem]')?.focus({ preventScroll: true })
  }

  function step(event: KeyboardEvent) {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
    const here = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') menu.current?.hidePopover()
    if (to === undefined) return
    event.preventDefault()
    all.at(to % all.length)?.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft transition-colors hover:bg-hover hover:text-ink aria-expanded:bg-hover aria-expanded:text-ink"
      >
        <Icon aria-hidden size={16} strokeWidth={2} />
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={prepare}
        onToggle={arrive}
        onKeyDown={step}
        style={{ left: 'auto', top: 'auto', bottom: 'auto', ...place }}
        className="fixed m-0 w-56 rounded-lg border border-line bg-panel p-1 text-left text-ink shadow-float"
      >
        {isOpen &&
          items.map((item) => (
            <Entry key={item.label} item={item} onChosen={() => menu.current?.hidePopover()} />
          ))}
        {isOpen && note && (
          <p className="mt-1 border-t border-line px-2.5 pt-1.5 pb-1 text-xs font-normal whitespace-normal text-soft">
            {note}
          </p>
        )}
      </div>
    </>
  )
}

function Entry({ item, onChosen }: { item: MenuItem; onChosen: () => void }) {
  const { label, icon: Icon, onSelect, needs, objection, isDanger, isOn } = item
  const forbidden = useObjection(needs)
  // Shorter than what a button says: it would be said at every entry.
  const reason = forbidden ? `Needs ${needs}` : (objection ?? null)
  return (
    <button
      type="button"
      {...(isOn === undefined ? { role: 'menuitem' } : { role: 'menuitemcheckbox', 'aria-checked': isOn })}
      tabIndex={-1}
      aria-disabled={reason !== null || undefined}
      onClick={() => {
        if (reason !== null) return
        // First, so that the focus is back on the button and a dialog can return it there.
        if (isOn === undefined) onChosen()
        onSelect()
      }}
      className={`flex w-full gap-2.5 rounded-md px-2.5 py-1.5 text-left hover:bg-hover focus-visible:bg-hover focus-visible:outline-none aria-disabled:cursor-not-allowed ${isDanger && reason === null ? 'text-bad' : ''}`}
    >
      <Icon
        aria-hidden
        size={15}
        className={`mt-0.5 shrink-0 ${reason === null ? '' : 'opacity-50'} ${isOn === false ? 'opacity-0' : ''}`}
      />
      <span className="min-w-0">
        <span className={reason === null ? '' : 'text-soft'}>{label}</span>
        {reason !== null && <span className="block text-xs text-soft">{reason}</span>}
      </span>
    </button>
  )
}
