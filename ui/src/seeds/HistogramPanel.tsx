// What is due now and what falls due next, as bars and in words: the next hour in steps of five minutes, or the day by hours.
import { Ahead } from '@/kit/Ahead'
import { Panel } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { useUrlText } from '@/kit/useUrlText'
import type { useHistogram } from './api'

type Scale = {
  title: string
  of: string
  ticks: Set<number>
  mark: (step: number) => string
  within: (step: number) => string
}

const SCALES: Record<string, Scale> = {
  '': {
    title: 'Next 24 hours',
    of: '24 hours',
    ticks: new Set([1, 6, 12, 18, 24]),
    mark: (hour) => `+${hour}h`,
    within: (hour) => (hour === 1 ? 'within the hour' : `in ${hour - 1} to ${hour} hours`),
  },
  hour: {
    title: 'Next hour',
    of: 'the hour',
    ticks: new Set([1, 3, 6, 9, 12]),
    mark: (step) => `+${step * 5}m`,
    within: (step) => `in ${step * 5 - 5} to ${step * 5} minutes`,
  },
}
/** Of a bar that has any, so that one seed among thousands is still seen. */
const LEAST_PERCENT = 3

type Props = { query: ReturnType<typeof useHistogram>; site: string }

export function HistogramPanel({ query, site }: Props) {
  const { data, error, refetch, isFetching } = query
  const [text, setText] = useUrlText('next')
  const chosen = text in SCALES ? text : ''
  const scale = SCALES[chosen] as Scale
  const counts = data && (chosen === 'hour' ? data.minutes : data.hours)
  const where = site ? ` of ${site}` : ''
  return (
    <Panel
      title={scale.title}
      lead={data && counts ? inWords(data.overdue, counts, scale, where) : `When seeds${where} fall due.`}
      action={
        <Segments
          label="How far ahead"
          value={chosen}
          options={{ hour: 'Hour', '': 'Day' }}
          onChange={setText}
        />
      }
    >
      <Ahead
        of="next hours"
        error={error}
        isThere={data !== undefined}
        isFetching={isFetching}
        onRetry={refetch}
        height="h-28"
        isInPanel
      />
      {data && counts && <Bars overdue={data.overdue} counts={counts} scale={scale} />}
    </Panel>
  )
}

function inWords(overdue: number, counts: number[], scale: Scale, where: string): string {
  const coming = counts.reduce((sum, count) => sum + count, 0)
  const most = Math.max(0, ...counts)
  const peak = coming > 0 ? ` Most (${most}) fall due ${scale.within(counts.indexOf(most) + 1)}.` : ''
  const fall = coming === 1 ? 'falls' : 'fall'
  return `${overdue} ${overdue === 1 ? 'seed' : 'seeds'}${where} due now; ${coming} more ${fall} due within ${scale.of}.${peak}`
}

function Bars({ overdue, counts, scale }: { overdue: number; counts: number[]; scale: Scale }) {
  const most = Math.max(1, overdue, ...counts)
  return (
    <ol aria-label="Seeds by when they fall due" className="flex gap-0.5 px-4 pt-3 pb-2 sm:gap-1">
      <Bar name="due now" tick="now" count={overdue} most={most} isNow />
      {counts.map((count, index) => (
        <Bar
          // biome-ignore lint/suspicious/noArrayIndexKey: the step of time is what the bar is
          key={index}
          name={`due ${scale.within(index + 1)}`}
          tick={scale.ticks.has(index + 1) ? scale.mark(index + 1) : ''}
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
