// The plain facts of a site, and the way to what was done to it.
import { Link } from 'react-router'
import type { Site } from '@/api/types'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'

export function FactsPanel({ site }: { site: Site }) {
  return (
    <Panel title="Facts">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Slug">
          <code className="font-mono text-xs break-all">{site.slug}</code>
        </Fact>
        <Fact term="Epoch">{site.epoch}</Fact>
        <Fact term="Created">
          <Moment at={site.created_at} />
        </Fact>
        <Fact term="Updated">
          <Moment at={site.updated_at} />
        </Fact>
      </dl>
      <p className="border-t border-line px-4 py-2.5">
        <Link to={`/audit?subject=${encodeURIComponent(site.slug)}`} className="text-accent hover:underline">
          Who changed what
        </Link>
      </p>
    </Panel>
  )
}

function Fact({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-soft">{term}</dt>
      <dd className="min-w-0 text-right">{children}</dd>
    </div>
  )
}
