// A state in a word, an icon and a colour; never in the colour alone.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

const TONES: Record<Tone, string> = {
  neutral: 'bg-sunken text-soft ring-line',
  accent: 'bg-accent-wash text-accent-strong ring-transparent',
  good: 'bg-good-wash text-good ring-transparent',
  warn: 'bg-warn-wash text-warn ring-transparent',
  bad: 'bg-bad-wash text-bad ring-transparent',
}

/** The same where there is no ground under the word. */
export const INKS: Record<Tone, string> = {
  neutral: 'text-soft',
  accent: 'text-accent',
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
}

type Props = { tone?: Tone; icon?: LucideIcon; title?: string; children: ReactNode }

export function Badge({ tone = 'neutral', icon: Icon, title, children }: Props) {
  return (
    <span
      title={title}
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap ring-1 ring-inset ${TONES[tone]}`}
    >
      {Icon && <Icon aria-hidden size={11} strokeWidth={2.5} />}
      {children}
    </span>
  )
}
