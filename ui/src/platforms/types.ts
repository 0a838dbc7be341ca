// Short names for what the API says about platforms.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Platform = Schemas['PlatformOut']
export type OnePlatform = Schemas['OnePlatformOut']
export type TaskType = Schemas['TaskTypeOut']
export type Books = Schemas['BooksOut']
export type Breaker = Schemas['BreakerOut']
export type Rate = Schemas['RateOut']
export type Override = Schemas['OverrideOut']
export type LimitsWish = Schemas['PreviewIn']
export type NewLimits = Schemas['LimitsIn']
export type Policy = Schemas['PlatformPolicyOut']
export type Parity = Schemas['ParityOut']
export type Difference = Schemas['DifferenceOut']
export type Phase = Schemas['Phase']
