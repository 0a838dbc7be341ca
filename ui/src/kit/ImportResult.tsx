// What became of an import: how many went in, and every line that did not with the reason.
import { CircleCheck, CircleX } from 'lucide-react'
import { useState } from 'react'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { Warning } from './states'
import { Cell, type Column, Table } from './Table'

type Fault = { line: number; detail: string }
type Imported = { created: number; updated: number; rejected: Fault[] }
/** What the numbers count: the lines of a text, the items of a list, the outlines of OPML. */
export type Unit = 'line' | 'item' | 'outline'

/** More than anybody reads at once. */
const FIRST = 100

type Props = {
  title: string
  imported: Imported
  unit?: Unit
  onAgain: () => void
  onClose: () => void
}

export function ImportedDialog({ title, imported, unit = 'line', onAgain, onClose }: Props) {
  const { created, updated, rejected } = imported
  const isNothing = created + updated === 0
  const Sign = isNothing ? CircleX : CircleCheck
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide={rejected.length > 0}
      footer={
        <>
          {(isNothing || rejected.length > 0) && <Button onClick={onAgain}>Import another</Button>}
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <p role="status" className="flex items-center gap-2 font-medium">
        <Sign aria-hidden size={16} className={`shrink-0 ${isNothing ? 'text-bad' : 'text-good'}`} />
        {created} created, {updated} updated, {rejected.length} rejected.
      </p>
      {isNothing && rejected.length === 0 && <Warning>There was nothing in it.</Warning>}
      {rejected.length > 0 && (
        <>
          <Warning>
            {isNothing ? `No ${unit} was taken.` : `The other ${unit}s are in.`} Mend these and import them
            again.
          </Warning>
          <Faults label={`Rejected ${unit}s`} faults={rejected} unit={unit} />
        </>
      )}
    </Dialog>
  )
}

type FaultsProps = { label: string; faults: Fault[]; unit?: Unit }

export function Faults({ label, faults, unit = 'line' }: FaultsProps) {
  const [isWhole, setIsWhole] = useState(false)
  const line: Column = { title: unit.charAt(0).toUpperCase() + unit.slice(1), isNumber: true }
  const detail: Column = { title: 'Why' }
  const shown = isWhole ? faults : faults.slice(0, FIRST)
  return (
    <div className="overflow-hidden rounded-md border border-line">
      <p aria-hidden className="border-b border-line bg-sunken px-4 py-2 font-medium">
        {label}
      </p>
      <Table label={label} columns={[line, detail]}>
        {shown.map((fault) => (
          <tr key={fault.line} className="border-t border-line">
            <Cell column={line} className="w-16 text-soft">
              {fault.line}
            </Cell>
            <Cell column={detail}>{fault.detail}</Cell>
          </tr>
        ))}
      </Table>
      {shown.length < faults.length && (
        <div className="border-t border-line px-4 py-2">
          <Button onClick={() => setIsWhole(true)}>Show all {faults.length}</Button>
        </div>
      )}
    </div>
  )
}
