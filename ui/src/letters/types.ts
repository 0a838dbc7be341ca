// Short names for what the API says about dead letters.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Letter = Schemas['DeadLetterOut']
export type LetterCount = Schemas['LetterCountOut']
export type Replay = Schemas['ReplayOut']
export type Outcome = Schemas['OutcomeOut']
export type ReplayIn = Partial<Schemas['ReplayIn']>
