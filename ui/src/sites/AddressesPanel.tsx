// Where the site has lived: a strip of time, and under it every address with who moved the site there and why.
import { ArrowRightLeft, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { Mount, Site } from '@/api/types'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { lasting, Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { AddressStrip } from './AddressStrip'
import { shortAddress } from './addresses'
import { useMoves } from './api'
import { type Chapter, chapters } from './history'
import { MoveDialog } from './MoveDialog'
import { TrustMark } from './SiteState'

export function AddressesPanel({ site }: { site: Site }) {
  const { data, error, refetch, isFetching } = useMoves(site.slug)
  const [target, setTarget] = useState<Mount | null>(null)
  const story = chapters(site.mounts, data?.items ?? [])
  return (
    <Panel
      title="Addresses"
      lead="Newest first. URLs written at any of them are written at the current one today."
    >
      <div className="flex flex-col gap-4 p-4">
        {error && (
          <Failure
            what="Who moved it and why could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
          />
        )}
        <AddressStrip story={story} />
        <ol aria-label="Addresses through time" className="flex flex-col">
          {story.map((chapter) => (
            <Stop key={chapter.mount.since} chapter={chapter} onMove={() => setTarget(chapter.mount)} />
          ))}
        </ol>
      </div>
      {target && <MoveDialog site={site} target={target} onClose={() => setTarget(null)} />}
    </Panel>
  )
}

function Stop({ chapter, onMove }: { chapter: Chapter; onMove: () => void }) {
  const { mount, address, isProposal } = chapter
  const dot = mount.current
    ? 'bg-accent border-accent'
    : isProposal
      ? 'border-edge/50 bg-panel'
      : 'bg-panel border-edge'
  return (
    <li className="group relative flex gap-3 pb-4 last:pb-0">
      <span aria-hidden className="absolute top-4 bottom-0 left-[5.5px] w-px bg-line group-last:hidden" />
      <span aria-hidden className={`relative mt-1 size-3 shrink-0 rounded-full border-2 ${dot}`} />
      <div className="flex min-w-0 flex-1 flex-wrap items-start justify-between gap-x-4 gap-y-1.5 sm:flex-nowrap">
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span title={address} className={`font-mono break-all ${mount.current ? 'font-semibold' : ''}`}>
              {shortAddress(address)}
            </span>
            {mount.current && <Badge tone="accent">Current</Badge>}
            {isProposal && <Badge>Proposed</Badge>}
          </div>
          <Stay chapter={chapter} />
          <Cause chapter={chapter} />
        </div>
        {!mount.current && (
          <Button icon={isProposal ? ArrowRightLeft : Undo2} needs="sites.manage" onClick={onMove}>
            {isProposal ? 'Move here' : 'Move back here'}
          </Button>
        )}
      </div>
    </li>
  )
}

function Stay({ chapter: { mount, until, isProposal } }: { chapter: Chapter }) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-xs/5 text-soft">
      <span>
        {isProposal ? 'Proposed ' : 'Since '}
        <Moment at={mount.since} />
        {until && `, for ${lasting(Date.parse(until) - Date.parse(mount.since))}`}
        {mount.subdomains === 'none' && ', without subdomains'}
      </span>
      {!isProposal && <TrustMark trust={mount.trust} />}
    </p>
  )
}

function Cause({ chapter: { move } }: { chapter: Chapter }) {
  if (!move) return null
  return (
    <p className="text-sm break-words">
      <span className="text-soft">{move.trust === 'observed' ? 'Proposed by' : 'Moved by'}</span>{' '}
      {move.actor_name}
      {move.reason ? <>: {move.reason}</> : <span className="text-soft">, no reason given</span>}
    </p>
  )
}
