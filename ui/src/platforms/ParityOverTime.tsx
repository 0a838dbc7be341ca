// How much was the same by when it came: a bar for each hour or day, what differs standing on what does not.
import { ChartKey } from '@/kit/ChartKey'
import { written } from '@/kit/zone'
import type { Parity } from './types'

type Stretch = Parity['over_time'][number]

const DAY_S = 86_400
const SHOWN = 72

export function ParityOverTime({ report }: { report: Parity }) {
  const stretches = report.over_time.slice(-SHOWN)
  const [first, last] = [stretches[0], stretches.at(-1)]
  if (!first || !last || stretches.length < 2) return null
  const most = Math.max(...stretches.map(({ compared }) => compared))
  return (
    <figure aria-label="Parity over time">
      <div role="img" aria-label={summary(stretches)} className="flex h-16 items-end gap-px">
        {stretches.map((one) => (
          <span
            key={one.from_at}
            title={inWords(one)}
            className="flex h-full min-w-1 max-w-8 flex-1 flex-col justify-end bg-hover/60"
          >
            <Part count={one.compared - one.equal} most={most} colour="bg-bad" />
            <Part count={one.equal} most={most} colour="bg-good" />
          </span>
        ))}
      </div>
      <figcaption className="mt-1 flex flex-wrap items-center justify-between gap-x-4 text-xs text-soft">
        <span>
          {when(first)} to {when(last)}
        </span>
        <span className="flex gap-4">
          <ChartKey colour="bg-good">the same</ChartKey>
          <ChartKey colour="bg-bad">differs</ChartKey>
        </span>
      </figcaption>
    </figure>
  )
}

/** A few among many are seen all the same. */
function Part({ count, most, colour }: { count: number; most: number; colour: string }) {
  if (count === 0) return null
  return <span className={`min-h-0.5 ${colour}`} style={{ height: `${(100 * count) / most}%` }} />
}

function when({ from_at, seconds }: Stretch): string {
  const { date, time } = written(Date.parse(from_at))
  return seconds >= DAY_S ? date : `${date} ${time.slice(0, 5)}`
}

function inWords(one: Stretch): string {
  return `${when(one)}: ${one.equal.toLocaleString('en')} of ${one.compared.toLocaleString('en')} chunks are the same`
}

function summary(stretches: Stretch[]): string {
  const unit = (stretches[0]?.seconds ?? 0) >= DAY_S ? 'days' : 'hours'
  const bad = stretches.filter(({ compared, equal }) => equal < compared)
  const worst = bad.at(-1)
  return worst
    ? `Chunks differ in ${bad.length} of ${stretches.length} ${unit}, the last time in ${inWords(worst)}.`
    : `In each of ${stretches.length} ${unit} all chunks are the same.`
}
