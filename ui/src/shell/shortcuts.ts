// Keys that work anywhere on a page, as long as nobody is typing and no dialog is open.
import { useEffect } from 'react'
import { toggleTheme } from './theme'

export const SHORTCUTS: Record<string, string> = {
  '/': 'Go to the filter of the list',
  t: 'Switch between light and dark',
  '?': 'Show these keys',
  Esc: 'Close a dialog, leave the filter',
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}

export function useShortcuts(showHelp: () => void) {
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const isChord = event.ctrlKey || event.metaKey || event.altKey
      if (isChord || isTyping(event.target) || document.querySelector('dialog[open]')) return
      if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-filter]')?.focus()
      }
      if (event.key === 't') toggleTheme()
      if (event.key === '?') showHelp()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [showHelp])
}
