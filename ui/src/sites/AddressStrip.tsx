// The addresses as stretches of one bar, as long as the site stayed there.
import { lasting, useNow } from '@/kit/Moment'
import { shortAddress } from './addresses'
import type { Chapter } from './history'

export function AddressStrip({ story }: { story: Chapter[] }) {
  const now = useNow()
  // A proposal took no time: the site never was there.
  const stays = story.filter((chapter) => !chapter.isProposal).reverse()
  if (stays.length < 2) return null
  return (
    <div aria-hidden className="flex h-7 gap-0.5 overflow-hidden rounded-md">
      {stays.map(({ mount, address, until }) => {
        const length = (until ? Date.parse(until) : now) - Date.parse(mount.since)
        return (
          <div
            key={mount.since}
            title={`${address}, ${lasting(length)}`}
            style={{ flexGrow: Math.max(length, 1) }}
            className={`@container flex min-w-3 basis-0 items-center overflow-hidden font-mono text-2xs whitespace-nowrap ${mount.current ? 'bg-accent text-on-accent' : 'bg-hover text-soft'}`}
          >
            <span className="hidden truncate px-2 @[5rem]:block">{shortAddress(address)}</span>
          </div>
        )
      })}
    </div>
  )
}
