// A capture's state and address as the small signs they are everywhere.
import { Clock } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { STATES } from './states'
import type { Capture, State } from './types'

export function StateBadge({ state }: { state: State }) {
  const { label, tone, icon, means } = STATES[state]
  return (
    <Badge tone={tone} icon={icon} title={means}>
      {label}
    </Badge>
  )
}

export function LateBadge() {
  return (
    <Badge tone="warn" icon={Clock} title="The lease it was collected under had ended when it arrived.">
      Late
    </Badge>
  )
}

/** Without its scheme, which is nearly always the same. */
export function shortUrl({ url }: Capture): string {
  return url.replace(/^https?:\/\//, '')
}

/** `page.html`, or `page.html and 2 more` */
export function fileNames({ files }: Capture): string {
  const [first, ...more] = files
  if (!first) return 'no files'
  return more.length > 0 ? `${first.name} and ${more.length} more` : first.name
}
