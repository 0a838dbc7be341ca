// Rows chosen so that the same can be done to all of them: by a click, a range with Shift, or the key x.
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { sentence } from '@/api/problems'
import type { Permission } from '@/api/types'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { TextField } from './Field'
import { Cell, type Column } from './Table'

export type Choice = {
  chosen: ReadonlySet<string>
  toggle: (id: string, isRange: boolean) => void
  clear: () => void
}

/** What is not on the page any more is not chosen either. */
export function useChoice(shown: string[]): Choice {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const chosen = new Set(shown.filter((id) => all.has(id)))
  return {
    chosen,
    clear: () => setAll(new Set()),
    toggle(id, isRange) {
      const isOn = !chosen.has(id)
      const [from, to] = [shown.indexOf(last.current ?? ''), shown.indexOf(id)]
      const these = isRange && from >= 0 ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
      const after = new Set(chosen)
      for (const one of these) isOn ? after.add(one) : after.delete(one)
      last.current = id
      setAll(after)
    },
  }
}

/** There is no room for it in a narrow window, and nobody who has one works on many rows. */
export const CHOOSE = { title: 'Chosen', isHiddenTitle: true, from: 'sm' } satisfies Column

export function ChooseCell({ id, name, choice }: { id: string; name: string; choice: Choice }) {
  return (
    <Cell column={CHOOSE} className="w-8 !pr-0">
      <input
        type="checkbox"
        aria-label={`Choose ${name}`}
        checked={choice.chosen.has(id)}
        // The click alone knows of Shift.
        onClick={(event) => choice.toggle(id, event.shiftKey)}
        onChange={() => {}}
        className="mt-0.5 size-4 accent-accent"
      />
    </Cell>
  )
}

export type BulkAct<T> = {
  label: string
  icon: LucideIcon
  isHard?: boolean
  /** What somebody may have who does it, for example; there where it takes a reason. */
  reason?: string
  /** Whether it can be done to this one. */
  fits: (one: T) => boolean
  act: (one: T, reason: string) => Promise<unknown>
}

type BarProps<T> = {
  items: T[]
  idOf: (one: T) => string
  nameOf: (one: T) => string
  choice: Choice
  acts: BulkAct<T>[]
  needs: Permission
  onDone: () => void
}

/** What can be done to those that are chosen; not there while none is. */
export function BulkBar<T>({ items, idOf, nameOf, choice, acts, needs, onDone }: BarProps<T>) {
  const [open, setOpen] = useState<{ act: BulkAct<T>; these: T[] } | null>(null)
  const chosen = items.filter((one) => choice.chosen.has(idOf(one)))
  if (chosen.length === 0 && !open) return null
  return (
    <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-b border-line bg-accent-wash px-4 py-2">
      <p aria-live="polite">{chosen.length} chosen</p>
      <div className="flex flex-wrap items-center gap-2">
        <Button look="quiet" onClick={choice.clear}>
          Choose none
        </Button>
        {acts.map((act) => {
          const these = chosen.filter(act.fits)
          return (
            <Button
              key={act.label}
              icon={act.icon}
              needs={needs}
              objection={these.length === 0 ? 'It can be done to none of them.' : null}
              onClick={() => setOpen({ act, these })}
            >
              {act.label} {these.length}
            </Button>
          )
        })}
      </div>
      {open && (
        <BulkDialog
          {...open}
          nameOf={nameOf}
          needs={needs}
          onClose={() => setOpen(null)}
          onDone={() => {
            choice.clear()
            onDone()
          }}
        />
      )}
    </div>
  )
}

type DialogProps<T> = {
  act: BulkAct<T>
  these: T[]
  nameOf: (one: T) => string
  needs: Permission
  onClose: () => void
  onDone: () => void
}

/** Asks once, does it one after the other, says how far it is, and what was refused. */
function BulkDialog<T>({ act, these, nameOf, needs, onClose, onDone }: DialogProps<T>) {
  const [done, setDone] = useState<number | null>(null)
  const [faults, setFaults] = useState<string[]>([])
  const [reason, setReason] = useState('')
  const isUnsaid = act.reason !== undefined && !reason.trim()
  const isStopped = useRef(false)
  const isUnderWay = done !== null && done < these.length && !isStopped.current

  async function work() {
    if (done !== null || isUnsaid) return
    const refused: string[] = []
    for (const [index, one] of these.entries()) {
      if (isStopped.current) break
      setDone(index)
      try {
        await act.act(one, reason.trim())
      } catch (error) {
        refused.push(`${nameOf(one)}: ${sentence(error)}`)
        setFaults([...refused])
      }
    }
    setDone(these.length)
    onDone()
    if (refused.length === 0) onClose()
  }

  function leave() {
    // What is begun is finished; the rest is left as it is.
    isStopped.current = true
    onClose()
  }

  const many = these.length === 1 ? 'one' : `${these.length}`
  return (
    <Dialog
      title={`${act.label} ${many}`}
      onClose={leave}
      onSubmit={work}
      footer={
        <>
          <Button onClick={leave}>{done === null ? 'Cancel' : isUnderWay ? 'Stop' : 'Close'}</Button>
          {done === null && (
            <Button
              type="submit"
              look={act.isHard ? 'danger' : 'primary'}
              needs={needs}
              objection={isUnsaid ? 'Say why.' : null}
            >
              {act.label} {many}
            </Button>
          )}
        </>
      }
    >
      <Names>{these.map(nameOf)}</Names>
      {act.reason !== undefined && done === null && (
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          placeholder={act.reason}
          hint="Said at each of them, with your name."
          isFirst
        />
      )}
      {done !== null && (
        <p role="status">
          {Math.min(done, these.length)} of {these.length} done
        </p>
      )}
      {faults.length > 0 && (
        <div role="alert" className="rounded-md border border-bad/30 bg-bad-wash px-3 py-2 text-bad">
          <p className="font-medium">{faults.length} could not be done:</p>
          <ul className="mt-1 flex max-h-40 flex-col gap-1 overflow-y-auto text-xs">
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  )
}

function Names({ children }: { children: ReactNode[] }) {
  return (
    <ul className="max-h-48 overflow-y-auto rounded-md border border-line px-3 py-2 font-mono text-xs/5">
      {children.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same name, and they never change places
        <li key={index} className="[overflow-wrap:anywhere]">
          {name}
        </li>
      ))}
    </ul>
  )
}
