// Short names for what the API says about jobs.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Job = Schemas['JobOut']
export type Part = Schemas['PartOut']
export type JobEvent = Schemas['JobEventOut']
export type Document = Schemas['DocumentOut']
export type JobChange = Schemas['JobChange']
export type NewJob = Schemas['CrawlRequest']
export type Status = Schemas['JobOut']['status']
export type Explained = Schemas['ExplainOut']
export type Saying = Schemas['SayingOut']
