// Where a run is and why, in a sentence.
import { Explanation } from '@/kit/Explanation'
import { briefly, exactly } from '@/kit/Moment'
import { money, moneyAtMost } from '@/kit/money'
import { ordinal } from './signs'
import { stretches, workedMs } from './spans'
import { doneItems, PAUSES, STATUSES } from './states'
import type { Run, RunEvent } from './types'

export function RunReason({ run, moves }: { run: Run; moves: RunEvent[] | undefined }) {
  const { icon, tone } = STATUSES[run.status]
  const last = moves?.findLast(({ type }) => type === run.status)
  return (
    <Explanation icon={icon} tone={tone} also={also(run, last)}>
      {worded(run, moves ?? [])}
    </Explanation>
  )
}

function worded(run: Run, moves: RunEvent[]): string {
  const items = run.processed_items.toLocaleString('en')
  switch (run.status) {
    case 'pending':
      return run.sub_status
        ? `Waits for a slot${run.position ? `: ${ordinal(run.position)} in line` : ''}. It begins by itself.`
        : `Planned and not started. It may cost up to ${moneyAtMost(run.estimated_cost_micros)}.`
    case 'running':
      return `Running: ${doneItems(run).toLocaleString('en')} of ${run.total_items.toLocaleString('en')} items are over.`
    case 'paused':
      return paused(run)
    case 'completed':
      return `Completed in ${took(run, moves)}: ${items} items for ${money(run.actual_cost_micros)}.`
    case 'failed':
      return `Failed: none of ${run.failed_items.toLocaleString('en')} items was collected.`
    case 'cancelled':
      return `Cancelled after ${items} items for ${money(run.actual_cost_micros)}. What was collected stays.`
  }
}

function paused(run: Run): string {
  const since = run.paused_at ? ` ${exactly(run.paused_at).slice(11)}` : ''
  const why = run.pause_detail ?? (run.pause_reason ? PAUSES[run.pause_reason].sentence : '')
  return `Paused${since} — ${why}`
}

function took(run: Run, moves: RunEvent[]): string {
  return briefly(workedMs(stretches(moves), Date.parse(run.completed_at ?? run.created_at)))
}

function also(run: Run, last: RunEvent | undefined): string | null {
  const by = last?.by && `By ${last.by}.`
  const wound =
    run.sub_status === 'pausing' || run.sub_status === 'cancelling'
      ? `${run.in_flight} items that workers have in hand are finished first.`
      : null
  const failed =
    run.status === 'completed' && run.failed_items > 0
      ? `${run.failed_items.toLocaleString('en')} failed and were passed over.`
      : null
  const provider =
    run.pause_reason === 'provider_down' ? 'It goes on by itself when the provider is back.' : null
  return [by, wound, failed, provider].filter(Boolean).join(' ') || null
}
