// The sessions as rows, one for each account that has one.
import { Link } from 'react-router'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { contents, Flags, hasFlags, SignIn, writerOf } from './signs'
import type { Session } from './types'

const COLUMNS = {
  account: { title: 'Account' },
  site: { title: 'Site', from: 'lg' },
  version: { title: 'Version', isNumber: true, from: 'sm' },
  contents: { title: 'Contents', from: 'lg' },
  signIn: { title: 'Sign-in ends' },
  written: { title: 'Written by', from: 'sm' },
  flags: { title: 'To mind', from: 'xl' },
} satisfies Record<string, Column>

export function SessionsTable({ sessions }: { sessions: Session[] | undefined }) {
  return (
    <Table label="Sessions" columns={Object.values(COLUMNS)} isLoading={!sessions}>
      {sessions?.map((session) => (
        <Row key={session.account_id} session={session} />
      ))}
    </Table>
  )
}

function Row({ session }: { session: Session }) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.account} className="[overflow-wrap:anywhere]">
        <Link
          to={`/sessions/${session.account_id}`}
          className="font-medium text-accent-strong hover:underline"
        >
          {session.username}
        </Link>
        <div className="text-xs text-soft lg:hidden">
          at {session.site}
          <span className="sm:hidden">, version {session.version}</span>
        </div>
        {hasFlags(session) && (
          <div className="mt-1 flex flex-wrap gap-1 xl:hidden">
            <Flags facts={session} />
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.site}>
        <Link to={`/sites/${session.site}`} className="hover:underline">
          {session.site}
        </Link>
      </Cell>
      <Cell column={COLUMNS.version}>{session.version}</Cell>
      <Cell column={COLUMNS.contents} className="text-xs/5 text-soft">
        {contents(session)}
      </Cell>
      <Cell column={COLUMNS.signIn} className="max-sm:w-[35%]">
        <SignIn facts={session} />
      </Cell>
      <Cell column={COLUMNS.written} className="max-w-48">
        <div title={`Token ${session.written.by}`} className="truncate">
          {writerOf(session)}
        </div>
        <div className="text-xs text-soft">
          <Moment at={session.updated_at} />
        </div>
      </Cell>
      <Cell column={COLUMNS.flags} className="max-w-64">
        {hasFlags(session) ? (
          <div className="flex flex-wrap gap-1">
            <Flags facts={session} />
          </div>
        ) : (
          <span className="text-soft">–</span>
        )}
      </Cell>
    </tr>
  )
}
