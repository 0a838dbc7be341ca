// How many tasks are where, over all platforms or at one; each number narrows the list down to them.
import { Badge } from '@/kit/Badge'
import { Chip, Chips } from '@/kit/Chips'
import { useGrowth } from '@/kit/useGrowth'
import { useBooks } from './api'
import type { Filters } from './filters'
import { STATUSES } from './states'

type Name = 'live' | 'completed' | 'failed' | 'timed_out' | 'cancelled'

const COUNTS: Record<Name, { label: string; statuses: string[] }> = {
  live: { label: 'Under way', statuses: ['pending', 'dispatched', 'processing'] },
  completed: { label: 'Completed', statuses: ['completed'] },
  failed: { label: 'Failed', statuses: ['failed'] },
  timed_out: { label: 'Timed out', statuses: ['timed_out'] },
  cancelled: { label: 'Cancelled', statuses: ['cancelled'] },
}
const NAMES = Object.keys(COUNTS) as Name[]

export function CountsPanel({ filters }: { filters: Filters }) {
  const { platform, chosen, choose } = filters
  const { data: books, dataUpdatedAt } = useBooks()
  const mine = books?.filter((one) => !platform || one.platform === platform)
  const sum = (name: Name | 'unaccounted') => mine?.reduce((total, one) => total + one[name], 0) ?? 0
  const unaccounted = sum('unaccounted')
  const all = NAMES.reduce((total, name) => total + sum(name), 0)
  const counts = Object.fromEntries([...NAMES.map((name) => [name, sum(name)]), ['all', all]])
  const growth = useGrowth(mine && counts, dataUpdatedAt, platform)
  return (
    <section aria-label="Counts" className="flex flex-col gap-2">
      <Chips label="Where they are">
        <Chip
          label="All"
          count={mine && all}
          more={growth.all}
          isOn={chosen.length === 0}
          onPress={() => choose([])}
        />
        {NAMES.map((name) => {
          const { label, statuses } = COUNTS[name]
          const isOn = statuses.every((one) => (chosen as string[]).includes(one))
          const others = chosen.filter((one) => !statuses.includes(one))
          return (
            <Chip
              key={name}
              label={label}
              sign={STATUSES[name === 'live' ? 'processing' : name]}
              count={mine && sum(name)}
              more={growth[name]}
              isOn={isOn}
              onPress={() => choose(isOn ? others : [...others, ...statuses])}
            />
          )
        })}
      </Chips>
      {unaccounted !== 0 && (
        <p>
          <Badge tone="bad">{unaccounted} unaccounted</Badge>{' '}
          <span className="text-soft">Something was accepted and is nowhere: that should never be.</span>
        </p>
      )}
    </section>
  )
}
