// What happened, one under the other along a line, each with its sign.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { INKS, type Tone } from './Badge'

export function Timeline({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ol aria-label={label} className="flex flex-col px-4 pt-4">
      {children}
    </ol>
  )
}

type Props = {
  sign?: { icon: LucideIcon; tone: Tone }
  title: string
  /** When, by whom: what stands beside the title. */
  aside: ReactNode
  children?: ReactNode
}

export function Stop({ sign, title, aside, children }: Props) {
  return (
    <li className="group relative flex gap-3 pb-4">
      <span aria-hidden className="absolute top-5 bottom-0 left-[7.5px] w-px bg-line group-last:hidden" />
      <span aria-hidden className={`mt-0.5 size-4 shrink-0 ${sign ? INKS[sign.tone] : ''}`}>
        {sign && <sign.icon size={16} />}
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{title}</span>
          <span className="text-xs text-soft">{aside}</span>
        </div>
        {children && (
          <p className="flex flex-wrap gap-x-3 text-xs/5 text-soft [overflow-wrap:anywhere]">{children}</p>
        )}
      </div>
    </li>
  )
}
