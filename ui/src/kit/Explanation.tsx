// How a thing is and what follows from it, in a sentence at the top of its page.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { INKS, type Tone } from './Badge'

const WASHES: Record<Tone, string> = {
  neutral: 'border-line bg-sunken',
  accent: 'border-line bg-panel shadow-raised',
  good: 'border-line bg-panel shadow-raised',
  warn: 'border-warn/30 bg-warn-wash',
  bad: 'border-bad/30 bg-bad-wash',
}

type Props = { tone: Tone; icon: LucideIcon; children: ReactNode; also?: ReactNode; action?: ReactNode }

export function Explanation({ tone, icon: Icon, children, also, action }: Props) {
  return (
    <section aria-label="Explanation" className={`flex gap-3 rounded-lg border px-4 py-3 ${WASHES[tone]}`}>
      <Icon aria-hidden size={18} className={`mt-0.5 shrink-0 ${INKS[tone]}`} />
      <div className="min-w-0 flex-1">
        <p className="text-base font-medium [overflow-wrap:anywhere]">{children}</p>
        {also && <p className="mt-0.5 text-soft [overflow-wrap:anywhere]">{also}</p>}
        {action && <div className="mt-2">{action}</div>}
      </div>
    </section>
  )
}
