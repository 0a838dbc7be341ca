// Short names for what the API says about sessions.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Session = Schemas['SessionOut']
export type Version = Schemas['VersionOut']
export type Entry = Schemas['EntryOut']
/** What can be said of a session at any of its versions. */
export type Facts = Omit<Version, 'counts'>
