// What several records, or entities, say of the same things, field by field, and whether they agree.
import type { Entity, SourceRecord } from './types'

export type Value = {
  text: string
  /** Where it leads, when it is an address one may follow. */
  href: string | null
  /** All who say anything say this, too. */
  isShared: boolean
}

/** `alone`: only one says anything, or what they say cannot be held against each other. */
export type Verdict = 'same' | 'partly' | 'differs' | 'alone'
export type Row = {
  key: string
  label: string
  cells: Value[][]
  verdict: Verdict
  /** Who says something else than most; where there is no most, all who say anything. */
  odd: boolean[]
}
export type Side = Pick<Entity, 'name' | 'aliases' | 'external_ids' | 'urls' | 'attributes'> & {
  images?: SourceRecord['images']
}

const plain = (text: string) => text.trim().toLowerCase()

export function rowsOf(sides: Side[]): Row[] {
  return [
    row(
      'name',
      'Name',
      sides.map(({ name }) => [name]),
    ),
    // Other names and other pictures contradict nobody.
    row(
      'aliases',
      'Aliases',
      sides.map(({ aliases }) => aliases),
      true,
    ),
    ...each(sides, ({ attributes }) => attributes, textsOf),
    ...each(
      sides,
      ({ external_ids }) => external_ids,
      (ids) => ids as string[],
      ' id',
    ),
    ...each(
      sides,
      ({ urls }) => urls,
      (urls) => urls as string[],
      ' URL',
    ),
    row(
      'images',
      'Images',
      sides.map(({ images }) => images ?? []),
      true,
    ),
  ].filter(({ cells }) => cells.some((cell) => cell.length > 0))
}

function each(
  sides: Side[],
  table: (side: Side) => Record<string, unknown>,
  read: (value: unknown) => string[],
  kind = '',
): Row[] {
  const keys = [...new Set(sides.flatMap((side) => Object.keys(table(side))))].sort()
  return keys.map((key) =>
    row(
      `${kind} ${key}`,
      kind ? key + kind : worded(key),
      sides.map((side) => (key in table(side) ? read(table(side)[key]) : [])),
    ),
  )
}

function row(key: string, label: string, texts: string[][], isLoose = false): Row {
  const said = texts.filter((cell) => cell.length > 0).map((cell) => new Set(cell.map(plain)))
  const isShared = (text: string) => said.length > 1 && said.every((cell) => cell.has(plain(text)))
  const cells = texts.map((cell) =>
    cell.map((text) => ({ text, href: hrefOf(text), isShared: isShared(text) })),
  )
  const verdict = verdictOf(said, cells.flat(), isLoose)
  return { key, label, cells, verdict, odd: verdict === 'differs' ? oddOnes(texts) : texts.map(() => false) }
}

function oddOnes(texts: string[][]): boolean[] {
  const words = texts.map((cell) => cell.map(plain).sort().join('\n'))
  const counts = words.map((word) => words.filter((other) => other === word && word !== '').length)
  const most = Math.max(...counts)
  const leaders = new Set(words.filter((_, at) => counts[at] === most))
  return words.map((word, at) => word !== '' && (leaders.size > 1 || counts[at] !== most))
}

function verdictOf(said: Set<string>[], all: Value[], isLoose: boolean): Verdict {
  if (said.length < 2) return 'alone'
  if (all.every((value) => value.isShared)) return 'same'
  if (all.some((value) => value.isShared) || isPrecision(said)) return 'partly'
  return isLoose ? 'alone' : 'differs'
}

/** Whether one only says more of the same than the other: `1990` and `1990-05`. */
function isPrecision(said: Set<string>[]): boolean {
  const words = said.map((cell) => [...cell].join()).sort((one, other) => one.length - other.length)
  return (
    said.every((cell) => cell.size === 1) && words.every((word, at) => word.startsWith(words[at - 1] ?? ''))
  )
}

/** The name of an attribute as one reads it: `Eye color`. */
export function worded(key: string): string {
  const words = key.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A value of any kind as words; of a list, each of its own. */
export function textsOf(value: unknown): string[] {
  if (value === null || value === undefined || value === '') return []
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}

/** Only what leads to a page: a record may say anything, also `javascript:`. */
export function hrefOf(text: string): string | null {
  return /^https?:\/\/[^\s]+$/i.test(text) ? text : null
}
