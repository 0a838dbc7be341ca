// Keys that work anywhere on a page, as long as nobody is typing and no dialog is open.
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { toggleRhythm } from '@/live/rhythm'
import { PLACES } from './navigation'
import { walk } from './rows'
import { toggleTheme } from './theme'

export const SHORTCUTS: Record<string, Record<string, string>> = {
  Everywhere: {
    '⌘K': 'Go to a page, a thing or an action by its name; Ctrl K does, too',
    '/': 'Go to the filter of the list',
    r: 'Make the page stand still, or go on',
    t: 'Switch between light and dark',
    '?': 'Show these keys',
    Esc: 'Close a dialog, leave the filter',
  },
  'In a list': {
    'j k': 'To the next row, to the one before',
    Enter: 'Open the row',
    x: 'Choose it, where rows can be chosen',
    'l h': 'Show what it hides, hide it again',
  },
  'In Reviews': {
    'y n u': 'Same, different, unsure',
    'j k': 'The next pair, the one before; arrows do, too',
    z: 'Take the last answer back',
  },
}

/** What follows `g`, and where it leads. */
export const GOING = PLACES.filter(({ key }) => key !== undefined)
const GO_WITHIN_MS = 2_000

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}

/** A ticked box is a place to walk on from, not one to type into. */
function isBox(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === 'checkbox'
}

/** Where a list is narrowed down: its field, or the first of its other filters. */
function filter(): HTMLElement | null {
  return (
    document.querySelector<HTMLElement>('#main [data-filter]') ??
    document.querySelector<HTMLElement>('#main search :is(input, select), #main fieldset button')
  )
}

type Doors = { onHelp: () => void; onPalette: () => void }

export function useShortcuts(doors: Doors) {
  const latest = useRef(doors)
  latest.current = doors
  const navigate = useNavigate()
  useEffect(() => {
    let goingUntil = 0
    function press(event: KeyboardEvent) {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey) {
        if (document.querySelector('dialog[open]')) return
        event.preventDefault()
        return latest.current.onPalette()
      }
      const isChord = event.ctrlKey || event.metaKey || event.altKey
      const isTaken = isTyping(event.target) && !isBox(event.target)
      if (isChord || isTaken || document.querySelector('dialog[open]')) return
      if (Date.now() < goingUntil) {
        goingUntil = 0
        const place = GOING.find(({ key }) => key === event.key)
        if (place) {
          event.preventDefault()
          navigate(place.path)
        }
        return
      }
      if (event.key === 'g') goingUntil = Date.now() + GO_WITHIN_MS
      // Reviews have a meaning of their own for these.
      if (!document.querySelector('[data-own-keys]') && walk(event.key)) event.preventDefault()
      if (event.key === '/') {
        event.preventDefault()
        filter()?.focus()
      }
      if (event.key === 'r') toggleRhythm()
      if (event.key === 't') toggleTheme()
      if (event.key === '?') latest.current.onHelp()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [navigate])
}
