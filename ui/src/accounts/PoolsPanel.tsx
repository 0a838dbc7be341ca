// Every pool at a glance: the totals by state, and a bar for each site. All of it leads to the accounts it counts.
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { Button } from '@/kit/Button'
import { Panel } from '@/kit/Panel'
import { StateBar } from './StateBar'
import { STATE_NAMES, STATES } from './states'
import type { Counts, State } from './types'

const FIRST = 6

type Props = { totals: Counts; sites: Record<string, Counts>; site: string; state?: State }

function sizeOf(counts: Counts): number {
  return STATE_NAMES.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
}

/** The address of this page with these filters changed; an empty one is taken away. */
function useFilterLink() {
  const [search] = useSearchParams()
  return (change: Record<string, string>) => {
    const after = new URLSearchParams(search)
    for (const [key, value] of Object.entries(change)) {
      if (value) after.set(key, value)
      else after.delete(key)
    }
    return `?${after}`
  }
}

export function PoolsPanel({ totals, sites, site, state }: Props) {
  const [isWhole, setIsWhole] = useState(false)
  const filter = useFilterLink()
  const pools = Object.entries(sites).sort(([, one], [, other]) => sizeOf(other) - sizeOf(one))
  // The chosen one is always there.
  const shown = pools.filter(([slug], index) => isWhole || index < FIRST || slug === site)
  return (
    <Panel label="Pools">
      <ul
        aria-label="All accounts by state"
        className="grid grid-cols-2 gap-px overflow-hidden rounded-t-lg border-b border-line bg-line sm:grid-cols-5"
      >
        {STATE_NAMES.map((name) => (
          <li key={name} className="bg-panel max-sm:last:col-span-2">
            <Total
              state={name}
              count={(site ? sites[site]?.[name] : totals[name]) ?? 0}
              to={filter({ state: name === state ? '' : name })}
              isChosen={name === state}
            />
          </li>
        ))}
      </ul>
      <ul aria-label="Pools by site" className="flex flex-col gap-3 px-4 py-3.5 sm:gap-2">
        {shown.map(([slug, counts]) => (
          <li
            key={slug}
            className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 sm:grid-cols-[9rem_minmax(0,1fr)_2.5rem]"
          >
            <Link
              to={filter({ site: slug === site ? '' : slug })}
              aria-current={slug === site || undefined}
              title={slug === site ? 'All sites again' : `Only ${slug}`}
              className="truncate font-medium hover:underline aria-[current]:text-accent-strong"
            >
              {slug}
            </Link>
            <div className="max-sm:order-last max-sm:col-span-2">
              <StateBar
                of={slug}
                counts={counts}
                linkTo={(name) =>
                  filter(
                    name === state && slug === site ? { state: '', site: '' } : { site: slug, state: name },
                  )
                }
                chosen={!site || slug === site ? state : undefined}
              />
            </div>
            <span className="text-right text-soft">{sizeOf(counts)}</span>
          </li>
        ))}
      </ul>
      {pools.length > FIRST && (
        <div className="border-t border-line px-4 py-1.5">
          <Button look="quiet" className="-ml-3" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show the largest only' : `Show all ${pools.length} sites`}
          </Button>
        </div>
      )}
    </Panel>
  )
}

type TotalProps = { state: State; count: number; to: string; isChosen: boolean }

const INKS: Record<State, string> = {
  using: 'text-accent',
  active: 'text-good',
  cooling: 'text-warn',
  inactive: 'text-soft',
  blocked: 'text-bad',
}

function Total({ state, count, to, isChosen }: TotalProps) {
  const { label, icon: Icon, means } = STATES[state]
  return (
    <Link
      to={to}
      title={means}
      aria-current={isChosen || undefined}
      className="flex items-center gap-2.5 px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2 aria-[current]:bg-accent-wash"
    >
      <Icon aria-hidden size={16} className={`shrink-0 ${INKS[state]}`} />
      <span className="text-lg font-semibold">{count}</span>
      <span className="text-soft">{label}</span>
    </Link>
  )
}
