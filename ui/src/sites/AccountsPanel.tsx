// The pool of a site: its accounts by state, how many may be in use at once, and who holds them.
import { Link } from 'react-router'
import { StateBar } from '@/accounts/StateBar'
import { STATE_NAMES, STATES } from '@/accounts/states'
import { Countdown } from '@/kit/Countdown'
import { Panel } from '@/kit/Panel'
import { useExplanation } from './api'

export function AccountsPanel({ slug }: { slug: string }) {
  const { data } = useExplanation(slug)
  const accounts = `/accounts?site=${encodeURIComponent(slug)}`
  const total = STATE_NAMES.reduce((sum, state) => sum + (data?.counts[state] ?? 0), 0)
  return (
    <Panel
      title="Accounts"
      action={
        <Link to={accounts} className="rounded px-2 py-1 text-accent hover:underline">
          {total === 0 ? 'Add accounts' : total === 1 ? 'See the one' : `See all ${total}`}
        </Link>
      }
    >
      {!data && <div className="skeleton m-4 h-20" />}
      {data && (
        <div className="flex flex-col gap-3 p-4">
          <StateBar of={slug} counts={data.counts} linkTo={(state) => `${accounts}&state=${state}`} />
          <dl className="flex flex-wrap gap-x-8 gap-y-2">
            <Figure term="In use">
              {data.counts.using ?? 0}
              <span className="font-normal text-soft">
                {data.cap === null ? ', no limit' : ` of ${data.cap} at once`}
              </span>
            </Figure>
            {STATE_NAMES.filter((state) => state !== 'using' && data.counts[state]).map((state) => (
              <Figure key={state} term={STATES[state].label}>
                {data.counts[state]}
              </Figure>
            ))}
            {data.next_available_at && (
              <Figure term="Next to come free">
                <Countdown until={data.next_available_at} before="in " />
              </Figure>
            )}
          </dl>
          {data.holders.length > 0 && <Holders slug={slug} names={data.holders} />}
        </div>
      )}
    </Panel>
  )
}

function Figure({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-soft">{term}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  )
}

function Holders({ slug, names }: { slug: string; names: string[] }) {
  return (
    <p className="text-soft">
      Held by{' '}
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <Link
            to={`/leases?site=${encodeURIComponent(slug)}&owner=${encodeURIComponent(name)}`}
            className="[overflow-wrap:anywhere] text-accent hover:underline"
          >
            {name}
          </Link>
        </span>
      ))}
    </p>
  )
}
