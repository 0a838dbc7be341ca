// The dead letters as rows that can be chosen; in a narrow window where it was and when stands under the reason.
import { Eye, RotateCcw } from 'lucide-react'
import { Link } from 'react-router'
import { pathOf } from '@/jobs/signs'
import { worded } from '@/jobs/states'
import { Badge } from '@/kit/Badge'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Letter } from './types'

const COLUMNS = {
  choose: { title: 'Chosen', isHiddenTitle: true },
  reason: { title: 'Reason' },
  platform: { title: 'Platform', from: 'sm' },
  job: { title: 'Job', from: 'sm' },
  attempt: { title: 'Attempt', isNumber: true, from: 'xl' },
  at: { title: 'Died', isNumber: true, from: 'sm' },
  actions: { title: 'Actions', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

// No more can be named in one replay.
const MOST = 1000

type Props = {
  letters: Letter[] | undefined
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  onOpen: (letter: Letter) => void
  onReplay: (letter: Letter) => void
}

export function LettersTable({ letters, chosen, onChoose, onOpen, onReplay }: Props) {
  const ids = letters?.map(({ id }) => id).slice(0, MOST) ?? []
  const isWhole = ids.length > 0 && ids.every((id) => chosen.has(id))

  function toggle(id: string) {
    const after = new Set(chosen)
    if (!after.delete(id)) after.add(id)
    onChoose(after)
  }

  return (
    <div data-chooses>
      {letters && (
        <label className="flex items-center gap-2.5 px-4 pt-2.5 text-xs text-soft">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={() => onChoose(new Set(isWhole ? [] : ids))}
            className="size-4 accent-accent"
          />
          Choose all {ids.length} shown
        </label>
      )}
      <Table label="Dead letters" columns={Object.values(COLUMNS)} isLoading={!letters}>
        {letters?.map((letter) => (
          <Row
            key={letter.id}
            letter={letter}
            isChosen={chosen.has(letter.id)}
            onToggle={() => toggle(letter.id)}
            onOpen={() => onOpen(letter)}
            onReplay={() => onReplay(letter)}
          />
        ))}
      </Table>
    </div>
  )
}

type RowProps = {
  letter: Letter
  isChosen: boolean
  onToggle: () => void
  onOpen: () => void
  onReplay: () => void
}

function Row({ letter, isChosen, onToggle, onOpen, onReplay }: RowProps) {
  const name = letter.job_id ?? letter.id
  return (
    <tr className={`${ROW} ${isChosen ? 'bg-accent-wash' : ''}`}>
      <Cell column={COLUMNS.choose} className="w-10 !pr-0">
        <input
          type="checkbox"
          aria-label={`Choose ${name}`}
          checked={isChosen}
          onChange={onToggle}
          className="mt-0.5 size-4 accent-accent"
        />
      </Cell>
      <Cell column={COLUMNS.reason} className="[overflow-wrap:anywhere] sm:w-[36%]">
        <div className="flex flex-wrap items-center gap-x-2">
          <button type="button" onClick={onOpen} className="text-left font-medium hover:underline">
            {worded(letter.reason)}
          </button>
          {letter.replayed_at && (
            <Badge tone="good" icon={RotateCcw}>
              Replayed
            </Badge>
          )}
        </div>
        {letter.detail && (
          <div title={letter.detail} className="line-clamp-2 text-xs/5 text-soft">
            {letter.detail}
          </div>
        )}
        <div className="text-xs/5 text-soft sm:hidden">
          {[letter.job_id, letter.platform && `at ${letter.platform}`].filter(Boolean).join(' ')}{' '}
          <Moment at={letter.at} />
        </div>
      </Cell>
      <Cell column={COLUMNS.platform}>{letter.platform ?? <span className="text-soft">none</span>}</Cell>
      <Cell column={COLUMNS.job} className="[overflow-wrap:anywhere]">
        {letter.job_id ? (
          <Link to={pathOf(letter.job_id)} className="font-mono text-xs/5 text-accent-strong hover:underline">
            {letter.job_id}
          </Link>
        ) : (
          <span className="text-soft">none</span>
        )}
      </Cell>
      <Cell column={COLUMNS.attempt}>{letter.attempt ?? <span className="text-soft">–</span>}</Cell>
      <Cell column={COLUMNS.at} className="text-soft">
        <Moment at={letter.at} />
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu
          label={`Actions on ${name}`}
          items={[
            { label: 'Show', icon: Eye, onSelect: onOpen },
            { label: 'Replay', icon: RotateCcw, needs: 'jobs.manage', onSelect: onReplay },
          ]}
        />
      </Cell>
    </tr>
  )
}
