// Buttons that know what they need: without the permission they stay in place, disabled, and say why.
import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { useObjection } from '@/api/permissions'
import type { Permission } from '@/api/types'
import { Tip } from './Tip'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> & {
  look?: Look
  icon?: LucideIcon
  needs?: Permission
  /** Why it cannot be pressed now; shown on hover and read out. */
  objection?: string | null
  isBusy?: boolean
  children: ReactNode
}

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:bg-accent-strong',
  plain: 'bg-panel text-ink border-line hover:bg-hover shadow-raised',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-bad-strong text-white border-transparent hover:brightness-90',
}

const SHAPE =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap transition-colors aria-disabled:cursor-not-allowed aria-disabled:opacity-55'

/** For a link that leads to where something is done, and looks like the button for it. */
export const LINK_LOOK = `${SHAPE} ${LOOKS.primary}`

export function Button({ look = 'plain', icon: Icon, needs, objection, isBusy, children, ...rest }: Props) {
  const forbidden = useObjection(needs)
  const reason = forbidden ?? objection ?? null
  const isOff = reason !== null || isBusy
  const button = (
    <button
      type="button"
      {...rest}
      // Not `disabled`: that would take the focus away, and with it the way to the reason.
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      onClick={isOff ? (event) => event.preventDefault() : rest.onClick}
      className={`${SHAPE} ${LOOKS[look]} ${rest.className ?? ''}`}
    >
      {Icon && <Icon aria-hidden size={15} strokeWidth={2} className="-ml-0.5" />}
      {children}
    </button>
  )
  return reason ? <Tip text={reason}>{button}</Tip> : button
}

type IconProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> & {
  icon: LucideIcon
  label: string
}

export function IconButton({ icon: Icon, label, className = '', ...rest }: IconProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft transition-colors hover:bg-hover hover:text-ink ${className}`}
    >
      <Icon aria-hidden size={16} strokeWidth={2} />
    </button>
  )
}
