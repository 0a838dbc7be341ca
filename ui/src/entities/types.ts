// Short names for what the API says of entities.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Entity = Schemas['EntityOut']
export type SourceRecord = Schemas['RecordOut']
export type Evidence = Schemas['EvidenceOut']
export type Belonging = Schemas['BelongingOut']
export type Tie = Schemas['TieOut']
export type Part = Schemas['BitsOut']
export type Word = Schemas['WordOut']
export type Why = Schemas['WhyOut']
export type Change = Schemas['ChangeOut']
export type Stats = Schemas['EntityStatsOut']
export type Receipt = Schemas['ErasureOut']

/** What would change with other weights, or did. */
export type Difference = {
  entities_before: number
  entities_after: number
  pairs_joined: number
  pairs_parted: number
  examples: { change: 'merge' | 'split'; entities: string[] }[]
}
export type Epoch = Omit<Schemas['EpochOut'], 'difference'> & { difference: Difference | null }
