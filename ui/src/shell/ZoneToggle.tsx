// Whether times are written in UTC or as this machine's clock has them.
import { toggleZone, useZone } from '@/kit/zone'

export function ZoneToggle() {
  const zone = useZone()
  return (
    <button
      type="button"
      onClick={toggleZone}
      title={zone === 'utc' ? 'Times are in UTC. Press for local ones.' : 'Times are local. Press for UTC.'}
      aria-label={zone === 'utc' ? 'Times in UTC' : 'Times are local'}
      className="h-7 rounded-md border border-line px-1.5 text-2xs font-medium text-soft hover:text-ink"
    >
      {zone === 'utc' ? 'UTC' : 'Local'}
    </button>
  )
}
