// Every cookie and stored key by name, and whose upload it is from. The server sends no value, so there is none to show.
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { useObjection } from '@/api/permissions'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useEntries } from './api'
import { writerOf } from './signs'
import type { Entry, Version } from './types'

const COLUMNS = {
  name: { title: 'Entry' },
  by: { title: 'Written by', from: 'sm' },
  when: { title: 'When', isNumber: true },
} satisfies Record<string, Column>
/** More than anybody reads at once; the filter finds the others. */
const FIRST = 100
/** Of an upload's id; the whole of it is in the title. */
const LONGEST = 16

type Props = { account: string; current: Version; versions: Version[] }

export function EntriesPanel({ account, current, versions }: Props) {
  const objection = useObjection('sessions.manage')
  const { data, error, refetch, isFetching } = useEntries(account, current.version, objection === null)
  const [wanted, setWanted] = useState('')
  const [isWhole, setIsWhole] = useState(false)
  const needle = wanted.trim().toLowerCase()
  const found = data?.filter((entry) => entry.slot.toLowerCase().includes(needle))
  const shown = isWhole ? found : found?.slice(0, FIRST)
  // Whose an upload was is known of the versions that are loaded.
  const writers = new Map(versions.map((version) => [version.written.upload_id, version]))
  return (
    <Panel title="Entries" lead="By name and by whom; a value is never shown.">
      {objection && <Empty title="Not for this token">{objection}</Empty>}
      {error && (
        <div className="p-4">
          <Failure
            what="The entries could not be loaded."
            error={error}
            onRetry={refetch}
            isRetrying={isFetching}
            isOld={data !== undefined}
          />
        </div>
      )}
      {!objection && (data || !error) && (
        <>
          <search aria-label="Entries" className="block border-b border-line px-4 py-2.5">
            <SearchField
              label="Name"
              placeholder="Part of a name"
              value={wanted}
              onChange={setWanted}
              isMain
            />
          </search>
          {found?.length === 0 ? (
            <Empty
              title={needle ? 'No entry matches' : 'It is empty'}
              action={needle && <Button onClick={() => setWanted('')}>Clear the filter</Button>}
            >
              {needle ? 'No name has this in it.' : 'What there was has ended or was deleted.'}
            </Empty>
          ) : (
            <Table label="Entries" columns={Object.values(COLUMNS)} isLoading={!shown}>
              {shown?.map((entry) => (
                <Row
                  key={`${entry.slot} ${entry.upload_id}`}
                  entry={entry}
                  version={writers.get(entry.upload_id)}
                />
              ))}
            </Table>
          )}
          {found && shown && found.length > shown.length && (
            <div className="border-t border-line px-4 py-2">
              <Button onClick={() => setIsWhole(true)}>Show all {found.length}</Button>
            </div>
          )}
        </>
      )}
    </Panel>
  )
}

function Row({ entry, version }: { entry: Entry; version: Version | undefined }) {
  const by = version
    ? `${writerOf(version)}, version ${version.version}`
    : `upload ${entry.upload_id.length > LONGEST ? `${entry.upload_id.slice(0, LONGEST)}…` : entry.upload_id}`
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.name} className="[overflow-wrap:anywhere]">
        <span className="text-xs text-soft">{entry.kind} </span>
        <span className="font-mono text-xs/5">{nameOf(entry)}</span>{' '}
        {entry.is_marker && (
          <Badge tone="good" icon={ShieldCheck} title="The site's auth_markers name it: it shows a sign-in.">
            Sign-in
          </Badge>
        )}
        <div className="text-xs text-soft sm:hidden">by {by}</div>
      </Cell>
      <Cell column={COLUMNS.by} className="text-xs/5 [overflow-wrap:anywhere]">
        <span title={`Upload ${entry.upload_id}`}>{by}</span>
        <div className="text-soft">{entry.source}</div>
      </Cell>
      <Cell column={COLUMNS.when} className="text-soft">
        <Moment at={entry.written_at} />
      </Cell>
    </tr>
  )
}

/** The kind stands before it already. */
function nameOf({ slot, kind }: Entry): string {
  return slot.startsWith(`${kind} `) ? slot.slice(kind.length + 1) : slot
}
