// A job's status, error and address as the small signs they are everywhere.
import { Badge } from '@/kit/Badge'
import { STATUSES, worded } from './states'
import type { Job, Status } from './types'

type BadgeProps = { status: Status; sub?: string | null }

export function StatusBadge({ status, sub }: BadgeProps) {
  const { label, tone, icon, means } = STATUSES[status]
  return (
    <Badge tone={tone} icon={icon} title={sub ? `${means} (${worded(sub)})` : means}>
      {label}
    </Badge>
  )
}

export function platformsOf({ platform }: Pick<Job, 'platform'>): string[] {
  return Array.isArray(platform) ? platform : [platform]
}

export function pathOf(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`
}

/** `timeout: So it said.`; without the code where `but` has said it already. */
export function errorText(error: Job['last_error'], but?: string | null): string | null {
  if (!error) return null
  const { code, message } = error as { code?: string; message?: string }
  return [code && code !== but && worded(code), message].filter(Boolean).join(': ') || null
}
