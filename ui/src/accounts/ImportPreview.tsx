// What a file of accounts holds, before it is sent; secrets are never shown.
import { Faults } from '@/kit/ImportResult'
import { Cell, type Column, Table } from '@/kit/Table'
import { type ImportFile, type ImportLine, KIND_NAMES } from './importing'
import { Labels } from './signs'

const FIRST = 5

const LINES = {
  line: { title: 'Line', isNumber: true },
  site: { title: 'Site', from: 'sm' },
  username: { title: 'Username' },
  secret: { title: 'Secret', from: 'sm' },
  labels: { title: 'Labels', from: 'sm' },
  priority: { title: 'Priority', isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

export function ImportPreview({ name, file }: { name: string; file: ImportFile }) {
  const { lines } = file
  const bad = lines.filter((line) => line.fault !== null)
  const good = lines.filter((line) => line.fault === null)
  return (
    <>
      <p role="status">
        <span className="font-medium">{name}</span>, read as {KIND_NAMES[file.kind]}:{' '}
        {lines.length === 1 ? 'one line' : `${lines.length} lines`}
        {bad.length > 0 ? `, of which ${bad.length} will be refused.` : '.'} Accounts that are there already
        get the secret and labels of their line.
      </p>
      {good.length > 0 && <FirstLines lines={good} />}
      {bad.length > 0 && (
        <Faults
          label="Lines that will be refused"
          faults={bad.map(({ number, fault }) => ({ line: number, detail: fault ?? '' }))}
        />
      )}
    </>
  )
}

function FirstLines({ lines }: { lines: ImportLine[] }) {
  const left = lines.length - FIRST
  return (
    <div className="overflow-hidden rounded-md border border-line">
      <p aria-hidden className="border-b border-line bg-sunken px-4 py-2 font-medium">
        {left > 0 ? 'First lines' : 'Lines'}
      </p>
      <Table label="First lines" columns={Object.values(LINES)}>
        {lines.slice(0, FIRST).map((line) => (
          <tr key={line.number} className="border-t border-line">
            <Cell column={LINES.line} className="text-soft">
              {line.number}
            </Cell>
            <Cell column={LINES.site}>{line.site}</Cell>
            <Cell column={LINES.username}>
              {line.username}
              <div className="text-xs text-soft sm:hidden">at {line.site}</div>
              <div className="font-mono text-2xs text-soft sm:hidden">{masked(line)}</div>
            </Cell>
            <Cell column={LINES.secret} className="font-mono text-xs/5">
              {masked(line)}
            </Cell>
            <Cell column={LINES.labels}>
              <Labels labels={Object.fromEntries(line.labels.map(parted))} />
            </Cell>
            <Cell column={LINES.priority}>{line.priority || <span className="text-soft">0</span>}</Cell>
          </tr>
        ))}
      </Table>
      {left > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-soft">and {left} more like these</p>
      )}
    </div>
  )
}

function masked({ parts }: ImportLine): string {
  return parts.map((name) => `${name} ••••••`).join(', ') || 'none'
}

function parted(label: string): [string, string] {
  const [name = '', ...value] = label.split(':')
  return [name, value.join(':')]
}
