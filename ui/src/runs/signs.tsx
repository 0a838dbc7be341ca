// A run's status, progress and spending as the small signs they are everywhere.
import { Badge } from '@/kit/Badge'
import { money } from '@/kit/money'
import { doneItems, ITEM_STATUSES, PAUSES, STATUSES } from './states'
import type { ItemStatus, Run } from './types'

export function pathOf(id: string): string {
  return `/runs/${id}`
}

export function StatusBadge({ run }: { run: Pick<Run, 'status' | 'sub_status'> }) {
  const { label, tone, icon, means } = STATUSES[run.status]
  const words = run.sub_status ? `${cap(run.sub_status)}…` : label
  return (
    <Badge tone={tone} icon={icon} title={means}>
      {words}
    </Badge>
  )
}

const cap = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

export function ItemBadge({ status }: { status: ItemStatus }) {
  const { label, tone, icon } = ITEM_STATUSES[status]
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  )
}

/** Why it is where it is, in a few words; null where its status says it all. */
export function shortReason(run: Run): string | null {
  if (run.pause_reason) return PAUSES[run.pause_reason].label
  if (run.position) return `${ordinal(run.position)} in line for a slot`
  if (run.status === 'pending' && !run.sub_status) return 'not started'
  return null
}

export function ordinal(number: number): string {
  const ending = { 1: 'st', 2: 'nd', 3: 'rd' }[number % 100 > 10 && number % 100 < 14 ? 0 : number % 10]
  return `${number}${ending ?? 'th'}`
}

export function percentDone(run: Run): number {
  return run.total_items > 0 ? Math.floor((100 * doneItems(run)) / run.total_items) : 100
}

type Segment = { name: string; count: number; colour: string }

export function segmentsOf(run: {
  done: number
  failed: number
  skipped: number
  inFlight: number
  total: number
}): Segment[] {
  const left = Math.max(0, run.total - run.done - run.failed - run.skipped - run.inFlight)
  return [
    { name: 'done', count: run.done, colour: 'bg-good' },
    { name: 'failed', count: run.failed, colour: 'bg-bad' },
    { name: 'skipped', count: run.skipped, colour: 'bg-soft' },
    { name: 'in flight', count: run.inFlight, colour: 'bg-accent' },
    { name: 'left', count: left, colour: 'bg-line' },
  ]
}

type BarProps = { label: string; segments: Segment[]; className?: string }

/** What became of all that was wanted, side by side. */
export function SegmentBar({ label, segments, className = 'h-2' }: BarProps) {
  const total = segments.reduce((sum, one) => sum + one.count, 0)
  const over = segments.filter(({ name }) => name !== 'left' && name !== 'in flight')
  const done = over.reduce((sum, one) => sum + one.count, 0)
  const words = segments.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuetext={words.join(', ') || 'nothing yet'}
      title={words.join(', ')}
      className={`flex overflow-hidden rounded-full bg-line ${className}`}
    >
      {segments.map(({ name, count, colour }) => (
        <div
          key={name}
          className={`h-full transition-[width] duration-300 ${colour}`}
          style={{ width: total > 0 ? `${(100 * count) / total}%` : 0 }}
        />
      ))}
    </div>
  )
}

export function ProgressCell({ run }: { run: Run }) {
  const done = doneItems(run)
  return (
    <div className="flex w-32 max-w-full flex-col gap-1">
      <span className="whitespace-nowrap">
        {done.toLocaleString('en')}
        <span className="text-soft">
          {' '}
          of {run.total_items.toLocaleString('en')} · {percentDone(run)} %
        </span>
      </span>
      <SegmentBar label={`Progress of ${run.name}`} segments={segmentsOf(runParts(run))} className="h-1.5" />
    </div>
  )
}

export function runParts(run: Run) {
  const { processed_items: done, failed_items: failed, skipped_items: skipped } = run
  return { done, failed, skipped, inFlight: run.in_flight, total: run.total_items }
}

/** `$3.20 + $0.40 reserved of $10.00`, in words and for those who are read to. */
export function spendingText(run: Run): string {
  const { actual_cost_micros: spent, reserved_cost_micros: reserved, budget_cap_micros: most } = run
  return `${money(spent)}${reserved > 0 ? ` + ${money(reserved)} reserved` : ''} of ${money(most)}`
}

type MeterProps = { run: Run; className?: string; hasTick?: boolean }

/** What is spent and reserved of the cap; from the soft limit on in amber, at the cap in red. */
export function SpendMeter({ run, className = 'h-1.5', hasTick }: MeterProps) {
  const { actual_cost_micros: spent, reserved_cost_micros: reserved, budget_cap_micros: most } = run
  const share = (micros: number) => (most > 0 ? Math.min(100, (100 * micros) / most) : 0)
  const used = share(spent + reserved)
  const isFull = run.pause_reason === 'budget' || used >= 100
  const colour = isFull ? 'bg-bad' : used >= run.soft_warning_percent ? 'bg-warn' : 'bg-accent'
  return (
    <div className="relative">
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> each in their own way */}
      <div
        role="meter"
        aria-label={`Budget of ${run.name}`}
        aria-valuenow={spent + reserved}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuetext={spendingText(run)}
        className={`flex overflow-hidden rounded-full bg-line ${className}`}
      >
        <div
          className={`h-full transition-[width] duration-300 ${colour}`}
          style={{ width: `${share(spent)}%` }}
        />
        <div
          className={`hatched h-full transition-[width] duration-300 ${colour}`}
          style={{ width: `${used - share(spent)}%` }}
        />
      </div>
      {hasTick && (
        <span
          aria-hidden
          title={`Soft limit: ${run.soft_warning_percent} %`}
          className="absolute -inset-y-1 w-px bg-ink"
          style={{ left: `${run.soft_warning_percent}%` }}
        />
      )}
    </div>
  )
}

export function rate(perSecond: number | null): string {
  if (perSecond === null) return '–'
  return perSecond >= 1 ? `${perSecond.toFixed(1)} / s` : `${(perSecond * 60).toFixed(1)} / min`
}
