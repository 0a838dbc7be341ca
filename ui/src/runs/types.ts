// Short names for what the API says about runs.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Run = Schemas['RunOut']
export type Status = Run['status']
export type PauseReason = NonNullable<Run['pause_reason']>
export type Collector = Schemas['CollectorOut']
export type Category = Schemas['CategoryOut']
export type Estimate = Schemas['EstimateOut']
export type NewRun = Schemas['RunIn']
export type RunChange = Schemas['RunPatch']
export type Item = Schemas['ItemOut']
export type ItemStatus = Schemas['ItemStatus']
export type Entry = Schemas['MovementOut']
export type Summary = Schemas['SummaryOut']
export type CategoryProgress = Schemas['CategoryProgressOut']
export type Failures = Schemas['FailureOut']
export type Counts = Schemas['RunCountsOut']
export type History = Schemas['HistoryOut']
export type Past = Schemas['PastOut']
export type Span = Schemas['SpanOut']
export type Config = Schemas['ConfigOut']
export type Setting = Schemas['SettingOut']
export type Allowance = Schemas['AllowanceOut']

/** What happened to a run, as the socket and the polling both tell it. */
export type RunEvent = {
  seq: number
  type: string
  run_id: string
  at: string
  by?: string | null
  reason?: string
  detail?: string | null
  pause_reason?: PauseReason
  in_flight?: number
  budget_cap_micros?: number
  from_micros?: number
  percent?: number
  estimated_cost_micros?: number
  categories?: string[]
  before?: number
  max_in_flight?: number
  [more: string]: unknown
}

/** An item as it is told of when it is over. */
export type Told = Pick<
  Item,
  'id' | 'category' | 'external_id' | 'status' | 'error_code' | 'error_message' | 'cost_micros' | 'job_id'
> & { at: string }
