// The seeds as rows; in a narrow window everything but when it is due stands under the address.
import { Link } from 'react-router'
import { Labels } from '@/accounts/signs'
import { Badge } from '@/kit/Badge'
import { Countdown } from '@/kit/Countdown'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { Url } from '@/kit/Url'
import { type Act, menuOf } from './actions'
import { StandingBadge, shortUrl, useStanding, VisitMark } from './signs'
import { roughly } from './spans'
import type { Seed } from './types'

const COLUMNS = {
  seed: { title: 'Seed' },
  site: { title: 'Site', from: 'xl' },
  due: { title: 'Next due' },
  interval: { title: 'Interval', isNumber: true, from: 'lg' },
  priority: { title: 'Priority', isNumber: true, from: 'lg' },
  visit: { title: 'Last visit', from: 'sm' },
  holder: { title: 'Holder', from: 'xl' },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

type Props = {
  seeds: Seed[] | undefined
  onAct: (act: Act, seed: Seed) => void
  onLabel: (label: string) => void
}

export function SeedsTable({ seeds, onAct, onLabel }: Props) {
  return (
    <Table label="Seeds" columns={Object.values(COLUMNS)} isLoading={!seeds}>
      {seeds?.map((seed) => (
        <Row key={seed.id} seed={seed} onAct={(act) => onAct(act, seed)} onLabel={onLabel} />
      ))}
    </Table>
  )
}

type RowProps = { seed: Seed; onAct: (act: Act) => void; onLabel: (label: string) => void }

function Row({ seed, onAct, onLabel }: RowProps) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.seed} className="min-w-40 [overflow-wrap:anywhere] sm:w-2/5">
        <Link
          to={`/seeds/${seed.id}`}
          title={seed.url ?? seed.original_url}
          className="line-clamp-2 font-medium text-accent-strong hover:underline"
        >
          <Url text={shortUrl(seed)} />
        </Link>
        <div className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
          <span>
            {seed.kind}
            <span className="xl:hidden"> at {seed.site}</span>
          </span>
          {seed.url === null && (
            <Badge tone="warn" title="Its site has no place for it at its current address.">
              No address
            </Badge>
          )}
          <Labels labels={seed.labels} onChoose={onLabel} />
        </div>
      </Cell>
      <Cell column={COLUMNS.site}>
        <Link to={`/sites/${seed.site}`} className="hover:underline">
          {seed.site}
        </Link>
      </Cell>
      <Cell column={COLUMNS.due} className="max-sm:w-[40%]">
        <div className="flex flex-wrap items-center gap-x-2">
          <StandingBadge seed={seed} />
          <span className="text-xs/5 text-soft">
            <When seed={seed} />
          </span>
        </div>
        {seed.holder && (
          <div className="text-xs text-soft [overflow-wrap:anywhere] xl:hidden">by {seed.holder}</div>
        )}
      </Cell>
      <Cell column={COLUMNS.interval} className="whitespace-nowrap">
        {roughly(seed.interval_seconds)}
      </Cell>
      <Cell column={COLUMNS.priority}>{seed.priority}</Cell>
      <Cell column={COLUMNS.visit} className="text-xs/5">
        <VisitMark seed={seed} />
        {seed.last_visited_at && (
          <div className="text-soft">
            <Moment at={seed.last_visited_at} />
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.holder} className="max-w-40">
        {seed.holder ? (
          <Link
            to={`/leases?owner=${encodeURIComponent(seed.holder)}`}
            title={`Everything ${seed.holder} holds`}
            className="block truncate hover:underline"
          >
            {seed.holder}
          </Link>
        ) : (
          <span className="text-soft">–</span>
        )}
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on ${shortUrl(seed)}`} items={menuOf(seed, onAct)} />
      </Cell>
    </tr>
  )
}

/** When it is due, or since when, or how long whoever holds it still does. */
function When({ seed }: { seed: Seed }) {
  const standing = useStanding(seed)
  if (standing === 'held' && seed.expires_at)
    return <Countdown until={seed.expires_at} after=" left" over="ending" />
  if (standing === 'due') return <Moment at={seed.next_due_at} />
  if (standing === 'waiting') return <Countdown until={seed.next_due_at} before="in " over="due" />
  return null
}
