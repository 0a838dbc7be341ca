// What a move would do, before it is made.
import { ArrowRight } from 'lucide-react'
import type { Moved, MoveIn, Site } from '@/api/types'
import { useSample } from './api'
import { trustLabel } from './SiteState'
import { UrlTester, useUrls } from './UrlTester'

type Props = { site: Site; wish: MoveIn; moved: Moved }

export function MovePreview({ site, wish, moved }: Props) {
  const input = useUrls(moved.sample.map((found) => found.input).join('\n'))
  const answer = useSample(site.slug, wish, input.urls, moved.sample)
  const { seeds = 0, sessions = 0 } = moved.affected
  return (
    <section aria-label="Preview" className="flex flex-col gap-4">
      <p role="status" className="font-medium">
        {verdict(moved)}
      </p>
      <div className="grid items-center gap-2 rounded-md border border-line bg-sunken p-3 sm:grid-cols-[1fr_auto_1fr]">
        <Address label="From" text={moved.from_address} />
        <ArrowRight aria-hidden size={18} className="rotate-90 text-soft sm:rotate-0" />
        <Address label="To" text={moved.to_address} />
      </div>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-4">
        <Figure term="Epoch">
          {moved.epoch === site.epoch ? moved.epoch : `${site.epoch} → ${moved.epoch}`}
        </Figure>
        <Figure term="Seeds affected">{seeds}</Figure>
        <Figure term="Sessions affected">{sessions}</Figure>
        <Figure term="What follows">{trustLabel(moved.trust)}</Figure>
      </dl>
      {wish.reason && (
        <p className="break-words">
          <span className="text-soft">Reason:</span> {wish.reason}
        </p>
      )}
      <UrlTester
        label="Try URLs, one per line"
        hint={
          moved.changed
            ? 'Below is how the server would write each of them after the move.'
            : 'Below is how the server writes each of them.'
        }
        input={input}
        answer={answer}
      />
    </section>
  )
}

function verdict(moved: Moved): string {
  if (moved.changed) return 'Nothing has changed yet. The move would do this:'
  if (moved.trust === 'observed') return 'A proposal: it is put on record, and the site stays where it is.'
  return 'The site lives there already, so there is nothing to move.'
}

function Address({ label, text }: { label: string; text: string }) {
  return (
    <div className="min-w-0">
      <p className="text-xs text-soft">{label}</p>
      <p className="font-mono break-all">{text}</p>
    </div>
  )
}

function Figure({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-soft">{term}</dt>
      <dd className="text-base font-medium">{children}</dd>
    </div>
  )
}
