// What the API says of sources.
export type Progress = {
  seen: number
  expected: number | null
  pages: number
  handed_over: number
  gone: number
  queued_bytes: number
  links: number
  errors: number
  per_second: number
}

export type LastSweep = {
  mode?: string
  started_at?: string
  ended_at?: string
  seen?: number
  handed?: number
}

export type Source = {
  name: string
  kind: 'stashbox' | 'theporndb' | 'runs'
  url: string | null
  enabled: boolean
  curated: boolean
  faces: 'on' | 'off'
  priority: number
  rate_limit: number | null
  rate_now: number | null
  state: string
  waiting_for: string | null
  progress: Progress
  started_at: string | null
  last_sweep: LastSweep | null
  next_sweep_at: string | null
  next_step: string
  last_error: string | null
}

export type Letter = {
  id: string
  source: string
  source_id: string | null
  reason: string
  payload: string
  at: string
}
