// Light or dark: as the system says until somebody chooses, and then as they chose.
import { useSyncExternalStore } from 'react'

const KEY = 'leasehold.theme'
const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const listeners = new Set<() => void>()
let theme: Theme = THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'system'

function show() {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function isDark(): boolean {
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}

export function setTheme(next: Theme) {
  theme = next
  if (next === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, next)
  show()
  for (const tell of listeners) tell()
}

export function toggleTheme() {
  setTheme(isDark() ? 'light' : 'dark')
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => theme,
  )
}

show()
