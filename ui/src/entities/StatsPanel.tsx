// What the graph has counted: by what records were linked, what was made of the rest, and what waits.
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { INKS, type Tone } from '@/kit/Badge'
import { sized } from '@/kit/sizes'
import { Failure } from '@/kit/states'
import { useStats } from './api'
import { LettersDialog } from './LettersDialog'
import type { Stats } from './types'

type Figure = { label: string; title: string; value: (stats: Stats) => number; tone: Tone }

const FIGURES: Figure[] = [
  {
    label: 'Linked by id',
    title: 'Records that share an external id with another.',
    value: (stats) => stats.linked_by_explicit_id,
    tone: 'good',
  },
  {
    label: 'Linked by URL',
    title: 'Records that share an address with another.',
    value: (stats) => stats.linked_by_external_url,
    tone: 'good',
  },
  {
    label: 'Linked by name',
    title: 'Records whose name and attributes agree with another.',
    value: (stats) => stats.linked_by_name_metadata,
    tone: 'good',
  },
  {
    label: 'Linked by face',
    title: 'Records whose picture decided, together with something else.',
    value: (stats) => stats.linked_by_face,
    tone: 'good',
  },
  {
    label: 'Created',
    title: 'Entities that were made.',
    value: (stats) => stats.entities_created,
    tone: 'accent',
  },
  {
    label: 'Merged',
    title: 'Entities that turned out to be others.',
    value: (stats) => stats.duplicates_merged,
    tone: 'accent',
  },
]

export function StatsPanel() {
  const { data, error, refetch, isFetching } = useStats()
  const [isOpen, setIsOpen] = useState(false)
  const shown = (value: (stats: Stats) => number) => (data ? value(data).toLocaleString('en') : '–')
  return (
    <section aria-label="Statistics" className="rounded-lg border border-line bg-panel shadow-raised">
      {error && (
        <div className="p-4">
          <Failure
            what="The statistics could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
            isOld={data !== undefined}
          />
        </div>
      )}
      <dl className="grid grid-cols-3 gap-x-4 gap-y-3 px-4 py-3 sm:grid-cols-5 xl:grid-cols-9">
        {FIGURES.map(({ label, title, value, tone }) => (
          <Tile key={label} term={label} title={title} tone={data && value(data) > 0 ? tone : undefined}>
            {shown(value)}
          </Tile>
        ))}
        <Tile
          term="Errors"
          title="What was handed over and could not be taken for a record."
          tone={data && data.errors > 0 ? 'bad' : undefined}
        >
          {data && data.errors > 0 ? (
            <button
              type="button"
              aria-label={`${shown((stats) => stats.errors)}: see what could not be read`}
              onClick={() => setIsOpen(true)}
              className="underline decoration-bad/40 underline-offset-2 hover:decoration-bad"
            >
              {shown((stats) => stats.errors)}
            </button>
          ) : (
            shown((stats) => stats.errors)
          )}
        </Tile>
        <Tile term="Queued" title="What waits to be written." tone={data?.queued_bytes ? 'warn' : undefined}>
          {data ? sized(data.queued_bytes) : '–'}
        </Tile>
        <Tile
          term="To review"
          title="Pairs of records somebody should look at."
          tone={data?.open_reviews ? 'warn' : undefined}
        >
          {data?.open_reviews ? (
            <Link to="/reviews" className="hover:underline">
              {shown((stats) => stats.open_reviews)}
            </Link>
          ) : (
            shown((stats) => stats.open_reviews)
          )}
        </Tile>
      </dl>
      {isOpen && <LettersDialog onClose={() => setIsOpen(false)} />}
    </section>
  )
}

type TileProps = { term: string; title: string; tone?: Tone; children: ReactNode }

function Tile({ term, title, tone, children }: TileProps) {
  return (
    <div title={title} className="min-w-0">
      <dt className="truncate text-xs text-soft">{term}</dt>
      <dd className={`text-lg font-semibold whitespace-nowrap ${tone ? INKS[tone] : 'text-soft'}`}>
        {children}
      </dd>
    </div>
  )
}
