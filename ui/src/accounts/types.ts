// Short names for what the API says about accounts.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Account = Schemas['AccountOut']
export type NewAccount = Schemas['AccountIn']
export type AccountChange = Schemas['AccountPatch']
export type State = Schemas['State']
export type Outcome = Schemas['Outcome']
export type How = Schemas['How']
export type Counts = Schemas['CountsOut']
export type PastLease = Schemas['PastLeaseOut']
export type Imported = Schemas['ImportOut']
export type Secret = Schemas['RevealOut']['secret']
