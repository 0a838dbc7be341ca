// Short names for what the API takes and answers, all from its own description.
import type { components } from './schema'

type Schemas = components['schemas']

export type Site = Schemas['SiteOut']
export type NewSite = Schemas['SiteIn']
export type SiteChange = Schemas['SitePatch']
export type Mount = Schemas['MountOut']
export type MountIn = Schemas['MountIn']
export type Policy = Schemas['PolicyOut']
export type Move = Schemas['MoveOut']
export type MoveIn = Schemas['MoveIn']
export type Moved = Schemas['MovedOut']
export type Trust = NonNullable<MoveIn['trust']>
export type Rewritten = Schemas['RewrittenOut']
export type Token = Schemas['TokenOut']
export type TokenIn = Schemas['TokenIn']
export type Role = Schemas['Role']
export type Permission = Schemas['Permission']
export type AuditEvent = Schemas['EventOut']
export type ProblemDocument = Schemas['Problem']
