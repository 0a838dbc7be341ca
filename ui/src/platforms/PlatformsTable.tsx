// The platforms as rows; in a narrow window what waits and what is in flight stands under the name.
import { Link } from 'react-router'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Strip } from '@/overview/api'
import { Hour } from './Hour'
import { PauseButton } from './PauseButton'
import {
  BooksBadge,
  BreakerBadge,
  FailureRate,
  InFlight,
  NextProbe,
  Oldest,
  overrideText,
  PlatformState,
  pausedText,
  percentText,
  rateText,
} from './signs'
import type { Books, Platform } from './types'

const COLUMNS = {
  platform: { title: 'Platform' },
  state: { title: 'State' },
  breaker: { title: 'Breaker', from: 'lg' },
  flight: { title: 'In flight', from: 'sm' },
  depth: { title: 'Waiting', isNumber: true, from: 'sm' },
  oldest: { title: 'Oldest', isNumber: true, from: 'lg' },
  failures: { title: 'Failures', isNumber: true, from: 'lg' },
  hour: { title: 'Last hour', from: 'lg' },
  limits: { title: 'Rate', from: 'xl' },
  writer: { title: 'Results go to', from: 'xl' },
  actions: { title: 'Actions', isHiddenTitle: true, isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

type Props = {
  platforms: Platform[] | undefined
  books: Books[] | undefined
  /** How attempts went lately, of those that had any. */
  strips: Strip[] | undefined
}

export function PlatformsTable({ platforms, books, strips }: Props) {
  return (
    <Table label="Platforms" columns={Object.values(COLUMNS)} isLoading={!platforms}>
      {platforms?.map((platform) => (
        <Row
          key={platform.platform}
          platform={platform}
          books={books?.find((one) => one.platform === platform.platform)}
          strip={strips?.find((one) => one.platform === platform.platform)}
        />
      ))}
    </Table>
  )
}

type RowProps = { platform: Platform; books: Books | undefined; strip: Strip | undefined }

function Row({ platform, books, strip }: RowProps) {
  const { breaker, canary_share, rate, writer } = platform
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.platform} className="[overflow-wrap:anywhere]">
        <Link
          to={`/platforms/${platform.platform}`}
          className="font-medium text-accent-strong hover:underline"
        >
          {platform.title}
        </Link>
        <div className="font-mono text-xs/5 text-soft">{platform.platform}</div>
        <div className="text-xs/5 text-soft sm:hidden">
          {platform.in_flight} of {platform.concurrency} in flight, {platform.depth} waiting
        </div>
      </Cell>
      <Cell column={COLUMNS.state}>
        <PlatformState platform={platform} />
        {platform.paused && (
          <div className="line-clamp-2 max-w-56 text-xs/5 text-soft [overflow-wrap:anywhere]">
            {pausedText(platform)}
          </div>
        )}
        {platform.limits_override && (
          <div className="text-xs/5 text-soft" title={`Its ${overrideText(platform.limits_override)}.`}>
            Limits changed
          </div>
        )}
        {breaker.state === 'open' && (
          <div className="mt-1 flex flex-wrap gap-x-1.5 text-xs/5 text-soft lg:hidden">
            Breaker <BreakerBadge breaker={breaker} />
          </div>
        )}
        {books && books.unaccounted !== 0 && (
          <div className="mt-1">
            <BooksBadge books={books} />
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.breaker}>
        <BreakerBadge breaker={breaker} />
        <div className="text-xs/5 text-soft">
          <NextProbe breaker={breaker} />
        </div>
      </Cell>
      <Cell column={COLUMNS.flight}>
        <InFlight platform={platform} />
      </Cell>
      <Cell column={COLUMNS.depth}>
        {platform.depth > 0 ? (
          <Link to={`/jobs?platform=${platform.platform}&status=pending`} className="hover:underline">
            {platform.depth.toLocaleString('en')}
          </Link>
        ) : (
          0
        )}
      </Cell>
      <Cell column={COLUMNS.oldest}>
        <Oldest seconds={platform.oldest_age_seconds} />
      </Cell>
      <Cell column={COLUMNS.failures} className="whitespace-nowrap">
        <FailureRate rate={platform.failure_rate} />
      </Cell>
      <Cell column={COLUMNS.hour}>
        {strip ? <Hour strip={strip} /> : <span className="text-soft">nothing</span>}
      </Cell>
      <Cell column={COLUMNS.limits} className="whitespace-nowrap">
        {rate ? rateText(rate) : <span className="text-soft">no limit</span>}
        {canary_share > 0 && (
          <div
            className="text-xs/5 text-soft"
            title="Left to workers that try out something new, for a while."
          >
            canary {percentText(canary_share)}
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.writer}>
        {writer.target}
        <div className="text-xs/5 text-soft">{writer.phase}</div>
      </Cell>
      <Cell column={COLUMNS.actions} className="!py-1.5">
        <PauseButton platform={platform} look="quiet" />
      </Cell>
    </tr>
  )
}
