// Reading a file of accounts before it is sent: what kind it is, what it holds, and which lines will be refused.
import type { ImportKind } from './api'

export type ImportLine = {
  number: number
  site: string
  username: string
  /** The names of the parts of the secret; never their values. */
  parts: string[]
  labels: string[]
  priority: string
  fault: string | null
}

export type ImportFile = { kind: ImportKind; body: string; lines: ImportLine[] }

export const KIND_NAMES: Record<ImportKind, string> = {
  'text/csv': 'CSV',
  'application/x-ndjson': 'NDJSON',
  'application/json': 'JSON',
}

type Fields = Record<string, unknown>
type Found = { number: number; item: Fields | null; fault: string | null }

/** Judged by what is in it: names of files lie, and a pasted text has none. */
export function readImport(text: string): ImportFile {
  const start = text.trimStart()[0]
  const whole = start === '{' || start === '[' ? parsed(text) : undefined
  const items = Array.isArray(whole) ? whole : isFields(whole) && 'items' in whole ? whole.items : undefined
  if (Array.isArray(items)) {
    const found = items.map((item, index) => asFound(index + 1, item))
    return { kind: 'application/json', body: JSON.stringify({ items }), lines: found.map(line) }
  }
  if (start === '{') return { kind: 'application/x-ndjson', body: text, lines: fromNdjson(text).map(line) }
  return { kind: 'text/csv', body: text, lines: fromCsv(text).map(line) }
}

/** What is wrong with a line beyond its form: a site nobody has. `known` is null while nobody can tell. */
export function withSites(file: ImportFile, known: string[] | null): ImportFile {
  if (!known) return file
  const lines = file.lines.map((each) =>
    each.fault === null && !known.includes(each.site)
      ? { ...each, fault: `There is no site named ${each.site}.` }
      : each,
  )
  return { ...file, lines }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asFound(number: number, item: unknown): Found {
  return isFields(item)
    ? { number, item, fault: null }
    : { number, item: null, fault: 'This is not a JSON object.' }
}

function fromNdjson(text: string): Found[] {
  return text.split('\n').flatMap((row, index) => (row.trim() ? [asFound(index + 1, parsed(row))] : []))
}

function fromCsv(text: string): Found[] {
  const [first, ...rows] = csvRows(text)
  if (!first) return []
  const header = first.cells.map((name) => name.trim())
  const missing = ['site', 'username'].filter((name) => !header.includes(name))
  if (missing.length > 0) {
    const fault = `The first line must name the columns; ${missing.join(' and ')} is missing.`
    return [{ number: first.number, item: null, fault }]
  }
  return rows.map(({ number, cells }) =>
    cells.length === header.length
      ? { number, item: csvItem(header, cells), fault: null }
      : {
          number,
          item: null,
          fault: `This has ${cells.length} columns; the first line names ${header.length}.`,
        },
  )
}

function csvItem(header: string[], cells: string[]): Fields {
  const item: Fields = {}
  const secret: Fields = {}
  const labels: Fields = {}
  header.forEach((name, index) => {
    const value = cells[index] ?? ''
    if (['site', 'username', 'priority'].includes(name)) item[name] = value
    else if (name.startsWith('label.')) {
      if (value) labels[name.slice('label.'.length)] = value
    } else secret[name.replace(/^secret\./, '')] = value
  })
  return { ...item, secret, labels }
}

function line({ number, item, fault }: Found): ImportLine {
  const text = (name: string) => (item?.[name] === undefined || item[name] === null ? '' : String(item[name]))
  const under = (name: string) => (isFields(item?.[name]) ? Object.entries(item[name] as Fields) : [])
  const [site, username, priority] = [text('site'), text('username'), text('priority')]
  const own =
    fault ??
    (site === '' ? 'It names no site.' : null) ??
    (username === '' ? 'It names no username.' : null) ??
    (/^(\s*\d*\s*)$/.test(priority) && Number(priority) <= 1000
      ? null
      : 'The priority is not a whole number from 0 to 1000.')
  return {
    number,
    site,
    username,
    parts: under('secret').map(([name]) => name),
    labels: under('labels').map(([name, value]) => `${name}:${value}`),
    priority,
    fault: own,
  }
}

type Row = { number: number; cells: string[] }

/** RFC 4180, with the number of the line each row begins on: a quoted cell may span several. */
function csvRows(text: string): Row[] {
  const rows: Row[] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  let here = 1
  let begun = 1

  function endRow() {
    if (cells.length > 0 || cell !== '') rows.push({ number: begun, cells: [...cells, cell] })
    cells = []
    cell = ''
    begun = here
  }

  for (let index = 0; index < text.length; index++) {
    const sign = text[index]
    if (sign === '\n') here += 1
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (text[index + 1] === '"') {
        cell += '"'
        index += 1
      } else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === ',') {
      cells.push(cell)
      cell = ''
    } else if (sign === '\n') endRow()
    else if (sign !== '\r') cell += sign
  }
  endRow()
  return rows
}
