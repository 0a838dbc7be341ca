// How many runs are under way, for the navigation: its colour is that of the worst, and without any it is not there.
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import { useCounts } from '@/runs/api'

export function RunsBadge({ onNavigate }: { onNavigate?: () => void }) {
  const { data } = useCounts(useObjection('runs.view') === null)
  const { running = 0, paused = 0 } = data ?? {}
  if (running + paused === 0) return null
  const words = [running && `${running} running`, paused && `${paused} paused`].filter(Boolean).join(' · ')
  return (
    <Link
      to="/runs?status=running,paused"
      onClick={onNavigate}
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-2 text-2xs font-medium whitespace-nowrap hover:underline ${paused ? 'bg-warn-wash text-warn' : 'bg-accent-wash text-accent-strong'}`}
    >
      <span aria-hidden className={`size-1.5 rounded-full ${paused ? 'bg-warn' : 'bg-accent'}`} />
      {words}
    </Link>
  )
}
