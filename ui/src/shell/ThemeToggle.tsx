// Three ways to be lit: as the system is, light, dark.
import { type LucideIcon, Monitor, Moon, Sun } from 'lucide-react'
import { setTheme, type Theme, useTheme } from './theme'

const LOOKS: Record<Theme, { label: string; icon: LucideIcon }> = {
  system: { label: 'System theme', icon: Monitor },
  light: { label: 'Light theme', icon: Sun },
  dark: { label: 'Dark theme', icon: Moon },
}

export function ThemeToggle() {
  const theme = useTheme()
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">Theme</legend>
      {(Object.keys(LOOKS) as Theme[]).map((name) => {
        const { label, icon: Icon } = LOOKS[name]
        return (
          <button
            key={name}
            type="button"
            aria-label={label}
            title={label}
            aria-pressed={theme === name}
            onClick={() => setTheme(name)}
            className="flex h-6 w-7 items-center justify-center rounded text-soft hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink"
          >
            <Icon aria-hidden size={13} />
          </button>
        )
      })}
    </fieldset>
  )
}
