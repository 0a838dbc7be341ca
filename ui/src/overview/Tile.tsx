// One number that matters, what it means, and the way to what is behind it.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { INKS, type Tone } from '@/kit/Badge'

type Props = { label: string; to: string; tone?: Tone; value: ReactNode; children?: ReactNode }

export function Tile({ label, to, tone, value, children }: Props) {
  return (
    <Link
      to={to}
      className="group flex min-w-0 flex-col gap-0.5 rounded-lg border border-line bg-panel px-4 py-3 shadow-raised hover:border-edge"
    >
      <span className="text-xs text-soft group-hover:text-ink">{label}</span>
      <span className={`text-lg font-semibold tracking-tight sm:text-xl ${tone ? INKS[tone] : ''}`}>
        {value}
      </span>
      <span className="min-h-4.5 text-xs text-soft">{children}</span>
    </Link>
  )
}
