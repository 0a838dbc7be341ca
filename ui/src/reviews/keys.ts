// The keys of the page of reviews: a hand on the keyboard decides faster than one on the mouse.
import { useEffect, useRef } from 'react'

export type Act = 'same' | 'different' | 'unsure' | 'next' | 'previous' | 'undo'

const KEYS: Record<string, Act> = {
  y: 'same',
  n: 'different',
  u: 'unsure',
  z: 'undo',
  j: 'next',
  k: 'previous',
  ArrowRight: 'next',
  ArrowLeft: 'previous',
}

/** Where keys have a meaning already: in a field, and in what scrolls. */
const TAKEN = 'input, textarea, select, [contenteditable]'

export function useKeys(onAct: (act: Act) => void) {
  const latest = useRef(onAct)
  latest.current = onAct
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const act = KEYS[event.key]
      const isChord = event.ctrlKey || event.metaKey || event.altKey
      const target = event.target instanceof HTMLElement ? event.target : null
      // A key that is held down would answer what nobody has seen.
      if (!act || isChord || event.repeat || target?.closest(TAKEN) || document.querySelector('dialog[open]'))
        return
      event.preventDefault()
      latest.current(act)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
