// What is due now and in each of the next 24 hours, as bars and in words.
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import type { useHistogram } from './api'
import type { Histogram } from './types'

const TICKS = new Set([1, 6, 12, 18, 24])
/** Of a bar that has any, so that one seed among thousands is still seen. */
const LEAST_PERCENT = 3

type Props = { query: ReturnType<typeof useHistogram>; site: string }

export function HistogramPanel({ query, site }: Props) {
  const { data, error, refetch, isFetching } = query
  const where = site ? ` of ${site}` : ''
  return (
    <Panel title="Next 24 hours" lead={data ? inWords(data, where) : `When seeds${where} fall due.`}>
      {error && (
        <div className="p-4">
          <Failure
            what="The next hours could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
            isOld={data !== undefined}
          />
        </div>
      )}
      {!data && !error && (
        <div
          role="status"
          aria-busy="true"
          aria-label="Loading the next hours"
          className="skeleton m-4 h-28"
        />
      )}
      {data && <Bars histogram={data} />}
    </Panel>
  )
}

function inWords({ overdue, hours }: Histogram, where: string): string {
  const coming = hours.reduce((sum, count) => sum + count, 0)
  const most = Math.max(0, ...hours)
  const peak = coming > 0 ? ` Most (${most}) fall due ${within(hours.indexOf(most) + 1)}.` : ''
  const fall = coming === 1 ? 'falls' : 'fall'
  return `${overdue} ${overdue === 1 ? 'seed' : 'seeds'}${where} due now; ${coming} more ${fall} due within ${hours.length} hours.${peak}`
}

function within(hour: number): string {
  return hour === 1 ? 'within the hour' : `in ${hour - 1} to ${hour} hours`
}

function Bars({ histogram: { overdue, hours } }: { histogram: Histogram }) {
  const most = Math.max(1, overdue, ...hours)
  return (
    <ol aria-label="Seeds by the hour they fall due" className="flex gap-0.5 px-4 pt-3 pb-2 sm:gap-1">
      <Bar name="due now" tick="now" count={overdue} most={most} isNow />
      {hours.map((count, index) => (
        <Bar
          // biome-ignore lint/suspicious/noArrayIndexKey: the hour is what the bar is
          key={index}
          name={`due ${within(index + 1)}`}
          tick={TICKS.has(index + 1) ? `+${index + 1}h` : ''}
          count={count}
          most={most}
        />
      ))}
    </ol>
  )
}

type BarProps = { name: string; tick: string; count: number; most: number; isNow?: boolean }

function Bar({ name, tick, count, most, isNow }: BarProps) {
  const percent = count > 0 ? Math.max(LEAST_PERCENT, (count / most) * 100) : 0
  return (
    <li
      title={`${count} ${name}`}
      className={`flex min-w-0 flex-1 flex-col ${isNow ? 'mr-1 min-w-6 border-r border-dashed border-line pr-1 sm:mr-2 sm:min-w-12 sm:pr-2' : ''}`}
    >
      <span className="sr-only">
        {count} {name}
      </span>
      <span aria-hidden className="flex h-24 flex-col justify-end border-b border-edge">
        {count > 0 && (
          <span className={`text-center text-2xs text-soft ${isNow ? '' : 'invisible lg:visible'}`}>
            {count}
          </span>
        )}
        <span
          style={{ height: `${percent}%` }}
          className={`w-full shrink rounded-t-sm ${isNow ? 'bg-warn' : 'bg-accent'}`}
        />
      </span>
      {/* Wider than its bar in a narrow window; it may stand out of it on both sides. */}
      <span aria-hidden className="flex h-4.5 justify-center text-2xs whitespace-nowrap text-soft">
        {tick}
      </span>
    </li>
  )
}
