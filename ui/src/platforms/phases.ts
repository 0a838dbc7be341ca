// How far the move of results into our hands can have come, in its order, and what each step means.
import { Problem } from '@/api/problems'
import type { Parity, Phase } from './types'

export const PHASES: Record<Phase, { label: string; means: string }> = {
  observe: { label: 'Observe', means: 'Crawlers write the target as before; we write the shadow alone.' },
  dual: { label: 'Dual', means: 'Crawlers and we write the target, and we the shadow besides.' },
  primary: { label: 'Primary', means: 'We alone write the target.' },
  stream: { label: 'Stream', means: 'We alone write the target, by way of the Redis stream.' },
}
export const ORDER = Object.keys(PHASES) as Phase[]

export function isAfter(one: Phase, other: Phase): boolean {
  return ORDER.indexOf(one) > ORDER.indexOf(other)
}

/** The gate: enough was compared, and all of it is the same. */
export function isProven({ compared, equal }: Parity, atLeast: number): boolean {
  return compared >= atLeast && equal === compared
}

/** Refused because the places differ; somebody may answer for it all the same. */
export function isGate(error: unknown): boolean {
  return error instanceof Problem && error.is('writers-differ')
}

export const KINDS: Record<string, string> = {
  missing_in_shadow: 'Missing in the shadow',
  missing_in_target: 'Missing in the target',
  fields: 'Fields differ',
  order: 'Another order',
}
