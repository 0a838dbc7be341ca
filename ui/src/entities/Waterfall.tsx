// Why a score is what it is: a bar for each part, from where the one before it ended, and the line at which two become one.
import { worded } from './comparing'
import type { Tie } from './types'
import { type Fall, fallsOf, inBits, type Scale, scaleOf, signed } from './waterfall'

type Props = { tie: Pick<Tie, 'parts' | 'score'>; join: number; label?: string }

const NAMES: Record<string, string> = {
  prior: 'Prior',
  ids: 'External ids',
  urls: 'URLs',
  curated: 'Curated source',
  name: 'Name',
  face: 'Face',
}
const BAR = 'absolute top-1/2 h-3.5 min-w-px -translate-y-1/2 rounded-[2px]'

export function Waterfall({ tie, join, label = 'Evidence' }: Props) {
  const falls = fallsOf(tie.parts)
  const scale = scaleOf(falls, join)
  const isEnough = tie.score >= join
  return (
    <table aria-label={`${label}: ${inWords(tie, join)}`} className="w-full table-fixed border-collapse">
      <thead>
        <tr className="text-2xs text-soft">
          <th scope="col" className="w-[34%] pb-1 pl-4 text-left font-normal sm:w-2/5">
            <span className="sr-only">Part</span>
          </th>
          <td aria-hidden className="relative pb-1">
            <Ticks scale={scale} join={join} />
          </td>
          <th scope="col" className="w-18 pr-4 pb-1 text-right font-normal">
            bits
          </th>
        </tr>
      </thead>
      <tbody>
        {falls.map((fall, index) => (
          <Step
            // biome-ignore lint/suspicious/noArrayIndexKey: a field can speak twice, and parts never change places
            key={index}
            fall={fall}
            scale={scale}
            join={join}
          />
        ))}
        <tr className="border-t border-line">
          <th scope="row" className="py-2 pl-4 text-left text-sm font-semibold">
            Sum
            <span className="block text-xs font-normal text-soft">
              {isEnough ? 'enough to join' : `${inBits(join - tie.score)} short of joining`}
            </span>
          </th>
          <td aria-hidden className="relative">
            <Lines scale={scale} join={join} />
            <span data-bar="sum" className={`${BAR} bg-accent`} style={between(scale, 0, tie.score)} />
          </td>
          <td className="pr-4 text-right font-semibold">{signed(tie.score)}</td>
        </tr>
      </tbody>
    </table>
  )
}

function Step({ fall, scale, join }: { fall: Fall; scale: Scale; join: number }) {
  const isPrior = fall.field === 'prior'
  const colour = isPrior ? 'bg-edge' : fall.bits < 0 ? 'bg-bad' : 'bg-good'
  const ink = isPrior || fall.bits === 0 ? 'text-soft' : fall.bits < 0 ? 'text-bad' : 'text-good'
  return (
    <tr>
      <th scope="row" className="py-1 pl-4 text-left align-top text-sm font-medium [overflow-wrap:anywhere]">
        {nameOf(fall.field)}{' '}
        <span className="text-xs font-normal text-soft">
          {fall.outcome}
          <Values fall={fall} />
        </span>
      </th>
      <td aria-hidden className="relative">
        <Lines scale={scale} join={join} />
        <span
          data-bar={fall.field}
          className={`${BAR} ${colour}`}
          style={between(scale, fall.from, fall.to)}
        />
        {/* Leads on to the next bar, which begins here. */}
        <span
          className="absolute top-1/2 -bottom-1/2 w-px bg-edge/60"
          style={{ left: `${scale(fall.to)}%` }}
        />
      </td>
      <td className={`pr-4 text-right ${ink}`}>{signed(fall.bits)}</td>
    </tr>
  )
}

/** The two values where they are not the same. */
function Values({ fall: { left, right } }: { fall: Fall }) {
  if (!left && !right) return null
  const words = left === right ? left : `${left || 'nothing'} ↔ ${right || 'nothing'}`
  return (
    <span className="line-clamp-2 block" title={words}>
      {words}
    </span>
  )
}

function Lines({ scale, join }: { scale: Scale; join: number }) {
  return (
    <>
      <span className="absolute inset-y-0 w-px bg-line" style={{ left: `${scale(0)}%` }} />
      <span
        data-join
        className="absolute inset-y-0 w-0 border-l-2 border-dashed border-accent"
        style={{ left: `${scale(join)}%` }}
      />
    </>
  )
}

function Ticks({ scale, join }: { scale: Scale; join: number }) {
  const isLate = scale(join) > 65
  return (
    <span className="relative block h-4">
      <span className="absolute -translate-x-full pr-1" style={{ left: `${scale(Math.min(0, join))}%` }}>
        {isLate ? '' : '0'}
      </span>
      <span
        className={`absolute font-medium whitespace-nowrap text-accent-strong ${isLate ? '-translate-x-full pr-1' : 'pl-1'}`}
        style={{ left: `${scale(join)}%` }}
      >
        joins at {join}
      </span>
    </span>
  )
}

function between(scale: Scale, from: number, to: number) {
  const [left, right] = [scale(Math.min(from, to)), scale(Math.max(from, to))]
  return { left: `${left}%`, width: `${right - left}%` }
}

export function nameOf(field: string): string {
  return NAMES[field] ?? worded(field)
}

/** The same for who cannot see it. */
function inWords(tie: Props['tie'], join: number): string {
  const parts = tie.parts.map(({ field, bits }) => `${nameOf(field)} ${signed(bits)}`)
  return `${parts.join(', ')}; sum ${signed(tie.score)}, joins at ${join}`
}
