// The small sign at the foot of the navigation that says whether the server is well.
import { Link } from 'react-router'
import { Tip } from '@/kit/Tip'
import { useReadiness } from './readiness'

export function ReadinessDot({ onNavigate }: { onNavigate?: () => void }) {
  const { data } = useReadiness()
  const colour = data ? (data.isReady ? 'bg-good' : 'bg-bad') : 'bg-edge'
  const words = data ? (data.isReady ? 'Ready' : 'Not ready') : 'Checking…'
  return (
    <Tip text={data?.words ?? 'Asking the server.'} className="min-w-0">
      <Link
        to="/system"
        onClick={onNavigate}
        className="flex items-center gap-2 rounded-md px-2.5 py-1 text-xs text-soft hover:text-ink"
      >
        <span aria-hidden className={`size-2 shrink-0 rounded-full ${colour}`} />
        <span role="status">{words}</span>
      </Link>
    </Tip>
  )
}
