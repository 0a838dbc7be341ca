// One seed: when it is visited and why then, how its visits went, and everything one can do to it.
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { Labels } from '@/accounts/signs'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Countdown } from '@/kit/Countdown'
import { Explanation } from '@/kit/Explanation'
import { Fact } from '@/kit/Fact'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { ACTS, type Act, actsFor, menuOf } from './actions'
import { useSeed } from './api'
import { SeedDialog } from './SeedDialog'
import { StandingBadge, shortUrl, useStanding, VisitMark } from './signs'
import { roughly, span } from './spans'
import { STANDINGS } from './states'
import type { Seed } from './types'
import { VisitsPanel } from './VisitsPanel'

export function SeedPage() {
  const { id = '' } = useParams()
  return (
    <Subpage noun="seed" list="Seeds" to="/seeds" query={useSeed(id)}>
      {(seed, failure) => <Loaded seed={seed} failure={failure} />}
    </Subpage>
  )
}

/** The acts that stand beside the name; the rest is in the menu after them. */
const IN_SIGHT: Act[] = ['visit', 'edit', 'enable']

function Loaded({ seed, failure }: { seed: Seed; failure: React.ReactNode }) {
  const [act, setAct] = useState<Act | null>(null)
  const navigate = useNavigate()
  const acts = actsFor(seed)
  return (
    <Page
      title={shortUrl(seed)}
      asks={`/v2/seeds/${seed.id}`}
      heading={
        <Heading list="Seeds" to="/seeds" name={shortUrl(seed)}>
          <span className="text-soft">
            at{' '}
            <Link to={`/sites/${seed.site}`} className="hover:underline">
              {seed.site}
            </Link>
          </span>
          <StandingBadge seed={seed} />
        </Heading>
      }
      actions={
        <>
          {IN_SIGHT.filter((one) => acts.includes(one)).map((one) => (
            <Button key={one} icon={ACTS[one].icon} needs={ACTS[one].needs} onClick={() => setAct(one)}>
              {ACTS[one].label}
            </Button>
          ))}
          <Menu
            label="More actions"
            items={menuOf(seed, setAct).filter(
              (item) => !IN_SIGHT.some((one) => ACTS[one].label === item.label),
            )}
          />
        </>
      }
    >
      {failure}
      <Why seed={seed} />
      <Columns
        main={
          <>
            <AddressPanel seed={seed} />
            <VisitsPanel seed={seed} />
            <CursorPanel cursor={seed.cursor} />
          </>
        }
        side={<FactsPanel seed={seed} />}
      />
      {act && (
        <SeedDialog act={act} seed={seed} onClose={() => setAct(null)} onDeleted={() => navigate('/seeds')} />
      )}
    </Page>
  )
}

function Why({ seed }: { seed: Seed }) {
  const standing = useStanding(seed)
  const { icon, tone } = STANDINGS[standing]
  const rhythm =
    seed.consecutive_failures > 0
      ? `${seed.consecutive_failures} visits in a row failed, so it is tried later each time.`
      : `Visited every ${roughly(seed.interval_seconds)}; that adapts between ${roughly(seed.min_interval_seconds)} and ${roughly(seed.max_interval_seconds)}.`
  return (
    <Explanation icon={icon} tone={tone} also={seed.enabled ? rhythm : undefined}>
      {standing === 'held' && (
        <>
          {seed.holder} is visiting it. The lease{' '}
          {seed.expires_at && <Countdown until={seed.expires_at} before="ends in " over="ends now" />} unless
          it is renewed.
        </>
      )}
      {standing === 'due' && 'Due: the next who asks for a seed of its site may get it.'}
      {standing === 'waiting' && (
        <>
          <Countdown until={seed.next_due_at} before="Due in " over="Due any moment" />.
        </>
      )}
      {standing === 'disabled' && 'Disabled: left alone until somebody enables it.'}
      {standing === 'gone' && 'Gone: its last visit found nothing there. Enable it to have it visited again.'}
    </Explanation>
  )
}

function AddressPanel({ seed }: { seed: Seed }) {
  return (
    <Panel title="Address" action={<CopyButton text={seed.url ?? seed.original_url} />}>
      <dl className="flex flex-col gap-3 px-4 py-3">
        <div>
          <dt className="text-xs text-soft">Where it is visited now</dt>
          <dd className="font-mono text-xs/5 break-all select-all">
            {seed.url ?? 'Nowhere: its site has no place for it at its current address.'}
          </dd>
        </div>
        {seed.original_url !== seed.url && (
          <div>
            <dt className="text-xs text-soft">As it was added</dt>
            <dd className="font-mono text-xs/5 break-all select-all">{seed.original_url}</dd>
          </div>
        )}
      </dl>
    </Panel>
  )
}

function CursorPanel({ cursor }: { cursor: Seed['cursor'] }) {
  return (
    <Panel title="Cursor" lead="What the last visit left for the next.">
      {cursor === null || cursor === undefined ? (
        <p className="px-4 py-3 text-soft">Nothing yet.</p>
      ) : (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and only the focus can scroll it by key
          tabIndex={0}
          className="max-h-72 overflow-auto px-4 py-3 font-mono text-xs/5 break-all whitespace-pre-wrap"
        >
          {JSON.stringify(cursor, null, 2)}
        </pre>
      )}
    </Panel>
  )
}

function FactsPanel({ seed }: { seed: Seed }) {
  return (
    <Panel title="Facts">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Kind">{seed.kind}</Fact>
        <Fact term="Priority" title="Higher is handed out first.">
          {seed.priority}
        </Fact>
        <Fact term="Interval">{span(seed.interval_seconds)}</Fact>
        <Fact term="Never below">{span(seed.min_interval_seconds)}</Fact>
        <Fact term="Never above">{span(seed.max_interval_seconds)}</Fact>
        <Fact term="Next due">
          <Moment at={seed.next_due_at} />
        </Fact>
        <Fact term="Last outcome">
          <VisitMark seed={seed} />
        </Fact>
        <Fact term="Last found" title="New things at the last good visit.">
          {seed.last_found ?? 'none yet'}
        </Fact>
        <Fact term="Last visited">
          <Moment at={seed.last_visited_at} />
        </Fact>
        <Fact term="Failures in a row">{seed.consecutive_failures}</Fact>
        <Fact term="Holder">
          {seed.holder ? (
            <Link
              to={`/leases?owner=${encodeURIComponent(seed.holder)}`}
              className="text-accent hover:underline"
            >
              {seed.holder}
            </Link>
          ) : (
            'nobody'
          )}
        </Fact>
        <Fact term="Created">
          <Moment at={seed.created_at} />
        </Fact>
        <Fact term="Updated">
          <Moment at={seed.updated_at} />
        </Fact>
        <div className="mt-1">
          <dt className="text-soft">Labels</dt>
          <dd className="mt-1">
            {Object.keys(seed.labels).length > 0 ? <Labels labels={seed.labels} /> : 'none'}
          </dd>
        </div>
        <div className="mt-1">
          <dt className="text-soft">Id</dt>
          <dd className="font-mono text-xs/5 break-all select-all">{seed.id}</dd>
        </div>
      </dl>
      <p className="flex flex-col gap-1 border-t border-line px-4 py-2.5">
        <Link
          to={`/captures?url=${encodeURIComponent(seed.url ?? seed.original_url)}`}
          className="text-accent hover:underline"
        >
          Captures of this address
        </Link>
        <Link to={`/audit?subject=${encodeURIComponent(seed.id)}`} className="text-accent hover:underline">
          Who changed what
        </Link>
      </p>
    </Panel>
  )
}
