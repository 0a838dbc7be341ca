// What several say of one thing, a column for each and a row for each field; where they differ is marked by more than a colour.
import type { LucideIcon } from 'lucide-react'
import { Equal, EqualApproximately, EqualNot } from 'lucide-react'
import type { ReactNode } from 'react'
import { Url } from '@/kit/Url'
import { type Row, rowsOf, type Side, type Value, type Verdict } from './comparing'

type Column = { id: string; head: ReactNode; side: Side }
type Props = { label: string; columns: Column[]; onlyDifferences?: boolean }

const SIGNS: Record<Verdict, { icon: LucideIcon | null; words: string; ink: string }> = {
  same: { icon: Equal, words: 'the same', ink: 'text-good' },
  partly: { icon: EqualApproximately, words: 'the same in part', ink: 'text-soft' },
  differs: { icon: EqualNot, words: 'different', ink: 'text-warn' },
  alone: { icon: null, words: '', ink: '' },
}

export function SideBySide({ label, columns, onlyDifferences }: Props) {
  const rows = rowsOf(columns.map(({ side }) => side))
  const shown = onlyDifferences ? rows.filter(({ verdict }) => verdict === 'differs') : rows
  // Two fit a phone when what they are asked stands above them; more are scrolled through.
  const isPair = columns.length <= 2
  const line = isPair ? 'max-sm:grid max-sm:grid-cols-2' : ''
  return (
    <section
      aria-label={label}
      data-scrolls
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse
      tabIndex={0}
      className="overflow-x-auto rounded-b-lg"
    >
      <table aria-label={label} className="w-full border-collapse">
        <thead>
          <tr className={line}>
            <th scope="col" className={`${HEAD} ${isPair ? 'max-sm:hidden' : ''}`}>
              <span className="sr-only">Field</span>
            </th>
            {columns.map(({ id, head }) => (
              <th
                key={id}
                scope="col"
                className={`px-4 py-2.5 text-left align-top font-normal ${isPair ? 'sm:w-1/2' : 'min-w-36 sm:min-w-48'}`}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <Line key={row.key} row={row} columns={columns} line={line} />
          ))}
          {shown.length === 0 && (
            <tr className="border-t border-line">
              <td colSpan={columns.length + 1} className="px-4 py-6 text-center text-soft">
                They differ in nothing.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  )
}

const HEAD = 'sticky left-0 z-10 w-40 min-w-28 bg-panel px-4 py-2 text-left align-top'

function Line({ row, columns, line }: { row: Row; columns: Column[]; line: string }) {
  const { icon: Icon, words, ink } = SIGNS[row.verdict]
  return (
    <tr className={`border-t border-line ${line}`}>
      <th
        scope="row"
        className={`${HEAD} text-xs/5 font-medium text-soft [overflow-wrap:anywhere] ${line && 'max-sm:col-span-2 max-sm:w-full max-sm:pb-0'}`}
      >
        {row.label}
        {Icon && (
          <span className={`ml-1.5 inline-flex align-[-2px] ${ink}`} title={words}>
            <Icon aria-hidden size={13} strokeWidth={2.5} />
            <span className="sr-only">{words}</span>
          </span>
        )}
      </th>
      {columns.map(({ id }, index) => (
        <td
          key={id}
          className={`px-4 py-2 align-top [overflow-wrap:anywhere] ${row.odd[index] ? 'bg-warn-wash' : ''}`}
        >
          <Values values={row.cells[index] ?? []} />
        </td>
      ))}
    </tr>
  )
}

const MOST_SHOWN = 8

function Values({ values }: { values: Value[] }) {
  if (values.length === 0) return <span className="text-soft">–</span>
  const more = values.length - MOST_SHOWN
  const hasShared = values.some(({ isShared }) => isShared)
  return (
    <ul className="flex flex-col gap-0.5">
      {values.slice(0, MOST_SHOWN).map((value) => (
        <li key={value.text} className={hasShared && !value.isShared ? 'text-soft' : ''}>
          {value.href ? <Outside href={value.href} /> : value.text}
        </li>
      ))}
      {more > 0 && <li className="text-soft">and {more} more</li>}
    </ul>
  )
}

/** An address of somebody else's: it learns nothing of where one comes from. */
export function Outside({ href, children }: { href: string; children?: ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer noopener nofollow"
      className="text-accent-strong underline decoration-line underline-offset-2 hover:decoration-accent"
    >
      {children ?? <Url text={href.replace(/^https?:\/\//i, '')} />}
    </a>
  )
}
