// Short names for what the API says about seeds.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Seed = Schemas['SeedOut']
export type NewSeed = Schemas['SeedIn']
export type SeedChange = Schemas['SeedPatch']
export type VisitOutcome = NonNullable<Seed['last_outcome']>
export type Visit = Schemas['SeedVisitOut']
export type ImportedSeeds = Schemas['SeedImportOut']
