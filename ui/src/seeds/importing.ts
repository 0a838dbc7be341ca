// What kind of file seeds are in, judged by what is in it: names of files lie, and a pasted text has none.
import type { Unit } from '@/kit/ImportResult'
import type { SeedFile } from './api'

export type Format = 'csv' | 'ndjson' | 'json' | 'opml'
export type Content = string | Uint8Array<ArrayBuffer>

export const FORMATS: Record<Format, { label: string; kind: string; unit: Unit; hint: string }> = {
  csv: {
    label: 'CSV',
    kind: 'text/csv',
    unit: 'line',
    hint: 'The first line names the columns. Only url is needed; site, kind, priority, interval_seconds and labels such as label.region may stand beside it.',
  },
  ndjson: {
    label: 'NDJSON',
    kind: 'application/x-ndjson',
    unit: 'line',
    hint: 'One JSON object a line, with the fields of a seed.',
  },
  json: {
    label: 'JSON',
    kind: 'application/json',
    unit: 'item',
    hint: 'A list of seeds, by itself or as items of an object.',
  },
  opml: {
    label: 'OPML',
    kind: 'text/x-opml',
    unit: 'outline',
    hint: 'As feed readers export it: every outline with an address becomes a seed.',
  },
}

/** Enough to judge by; a file may have many megabytes. */
const HEAD_BYTES = 64_000

/** How it begins, as text. An encoding that is not UTF-8 is for the server to read or refuse. */
export function headOf(content: Content): string {
  if (typeof content === 'string') return content.slice(0, HEAD_BYTES)
  return new TextDecoder().decode(content.subarray(0, HEAD_BYTES))
}

export function formatOf(head: string): Format {
  const start = head.trimStart()
  if (start.startsWith('<')) return 'opml'
  if (start.startsWith('[')) return 'json'
  if (!start.startsWith('{')) return 'csv'
  return isWhole(start.split('\n', 1)[0] ?? '') ? 'ndjson' : 'json'
}

/** Whether a line is an object by itself, and not the beginning of one or a list of items. */
function isWhole(line: string): boolean {
  try {
    return !('items' in JSON.parse(line))
  } catch {
    return false
  }
}

export function fileOf(content: Content, format: Format, site: string): SeedFile {
  const isBareList = format === 'json' && headOf(content).trimStart().startsWith('[')
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  return { kind: FORMATS[format].kind, body: isBareList ? `{"items":${text}}` : content, site }
}
