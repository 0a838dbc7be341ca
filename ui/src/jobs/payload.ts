// A payload as fields: made from a platform's schema and example, and put together again for the server to judge.
import { faultAt, Problem } from '@/api/problems'
import type { TaskType } from '@/platforms/types'

type Kind = 'text' | 'number' | 'yes-or-no' | 'choice' | 'json'
export type PayloadField = {
  name: string
  kind: Kind
  isRequired: boolean
  hint?: string
  choices?: string[]
}
export type Draft = Record<string, string>

type Property = { type?: unknown; enum?: unknown[]; description?: string; title?: string }
type Schema = { properties?: Record<string, Property>; required?: string[] }

/** The fields a schema names, what must be there first. None: the payload is written as JSON. */
export function fieldsOf(type: TaskType): PayloadField[] {
  const { properties = {}, required = [] } = type.schema as Schema
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    kind: kindOf(property),
    isRequired: required.includes(name),
    hint: property.description ?? property.title,
    choices: property.enum?.map(String),
  }))
  return fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
}

function kindOf({ type, enum: choices }: Property): Kind {
  if (choices?.every((choice) => typeof choice === 'string')) return 'choice'
  if (type === 'string') return 'text'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'boolean' ? 'yes-or-no' : 'json'
}

type Closed = Schema & { additionalProperties?: unknown }

/** One kind of task as several platforms know it together: every field that one of them has, and whose alone it is. */
export function merged(all: (readonly [string, TaskType])[]): TaskType | undefined {
  const first = all[0]?.[1]
  if (!first || all.length === 1) return first
  const properties: Record<string, Property> = {}
  const required = new Set<string>()
  for (const [, { schema }] of all) {
    for (const [name, property] of Object.entries((schema as Schema).properties ?? {}))
      properties[name] ??= { ...property }
    for (const name of (schema as Schema).required ?? []) required.add(name)
  }
  const example: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const knows = all.filter(([, { schema }]) => takes(schema as Closed, name)).map(([slug]) => slug)
    if (knows.length < all.length) property.description = `Only ${knows.join(', ')} takes it.`
    const told = all.find(([, type]) => name in type.example)?.[1].example[name]
    // What one of them would refuse is not filled in for the others' sake, unless it has to be there.
    if (told !== undefined && (knows.length === all.length || required.has(name))) example[name] = told
  }
  if (Object.keys(properties).length === 0) return first
  return { title: first.title, schema: { properties, required: [...required] }, example }
}

function takes({ properties = {}, additionalProperties }: Closed, name: string): boolean {
  return name in properties || additionalProperties !== false
}

/** The name under which a payload stands that has no fields. */
export const WHOLE = ''

export function exampleOf(type: TaskType): Draft {
  return draftOf(type, type.example)
}

/** A payload as it is typed, field by field. What no field is for is left out. */
export function draftOf(type: TaskType, payload: Record<string, unknown>): Draft {
  const fields = fieldsOf(type)
  if (fields.length === 0) return { [WHOLE]: JSON.stringify(payload, null, 2) }
  const draft: Draft = {}
  for (const { name, kind } of fields) {
    const value = payload[name]
    draft[name] = value === undefined ? '' : kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
  }
  return draft
}

type Read = { payload: Record<string, unknown>; faults: Draft }

/** What is sent. A field left empty is left out; what is no number goes as it is, for the server to refuse at its place. */
export function payloadOf(type: TaskType, draft: Draft): Read {
  const fields = fieldsOf(type)
  if (fields.length === 0) {
    const { value, fault } = parsed(draft[WHOLE] ?? '')
    return { payload: (value ?? {}) as Record<string, unknown>, faults: fault ? { [WHOLE]: fault } : {} }
  }
  const payload: Record<string, unknown> = {}
  const faults: Draft = {}
  for (const { name, kind } of fields) {
    const text = (draft[name] ?? '').trim()
    if (text === '') continue
    if (kind === 'json') {
      const { value, fault } = parsed(text)
      if (fault) faults[name] = fault
      else payload[name] = value
    } else if (kind === 'number') payload[name] = Number.isNaN(Number(text)) ? text : Number(text)
    else payload[name] = kind === 'yes-or-no' ? text === 'true' : text
  }
  return { payload, faults }
}

function parsed(text: string): { value?: unknown; fault?: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { fault: 'This is not JSON.' }
  }
}

/** What the server says of a field. What is missing it says of the whole; that stands better where it is missing. */
export function payloadFault(error: unknown, name: string): string | undefined {
  const own = faultAt(error, name === WHOLE ? '/payload' : `/payload/${name}`)
  if (own || name === WHOLE || !(error instanceof Problem)) return own
  const isMissing = error.faults.some(({ detail }) => detail === missing(name))
  return isMissing ? 'This must be given.' : undefined
}

function missing(name: string): string {
  return `'${name}' is a required property`
}

/** The same error without what stands at the fields. */
export function payloadRemainder(error: unknown, fields: PayloadField[]): string[] {
  if (!(error instanceof Problem)) return []
  const shown = fields.map(({ name }) => `/payload/${name}`)
  const said = fields.map(({ name }) => missing(name))
  return error.faults
    .filter(({ pointer }) => pointer.startsWith('/payload'))
    .filter(({ pointer, detail }) => !shown.includes(pointer) && !said.includes(detail))
    .map(({ pointer, detail }) => `${pointer}: ${detail}`)
}
