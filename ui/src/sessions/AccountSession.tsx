// The session of an account in a few lines, for the account's own page.
import { Link } from 'react-router'
import { useObjection } from '@/api/permissions'
import { sentence } from '@/api/problems'
import { Fact } from '@/kit/Fact'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { TO_SEE, useCurrent } from './api'
import { contents, Flags, hasFlags, SignIn, writerOf } from './signs'

export function AccountSession({ account, hasSession }: { account: string; hasSession: boolean }) {
  const objection = useObjection(TO_SEE)
  const { data, error } = useCurrent(account, hasSession && objection === null)
  return (
    <Panel title="Session">
      {!hasSession && (
        <p className="px-4 py-3 text-soft">None yet: whoever gets the account has to sign in.</p>
      )}
      {hasSession && !data && !objection && !error && (
        <div role="status" aria-busy="true" aria-label="Loading the session" className="skeleton m-4 h-16" />
      )}
      {hasSession && !data && (objection || error) && (
        <p className="px-4 py-3 text-soft">{objection ?? `It could not be loaded. ${sentence(error)}`}</p>
      )}
      {hasSession && data && (
        <dl className="flex flex-col gap-1.5 px-4 py-3">
          <Fact term="Version">{data.version}</Fact>
          <Fact term="Contents">{contents(data)}</Fact>
          <Fact term="Sign-in ends">
            <SignIn facts={data} />
          </Fact>
          <Fact term="Written">
            <Moment at={data.updated_at} /> by {writerOf(data)}
          </Fact>
          {hasFlags(data) && (
            <div className="mt-1 flex flex-wrap gap-1">
              <dt className="sr-only">To mind</dt>
              <dd className="flex flex-wrap gap-1">
                <Flags facts={data} />
              </dd>
            </div>
          )}
        </dl>
      )}
      {hasSession && !objection && (
        <p className="border-t border-line px-4 py-2.5">
          <Link to={`/sessions/${account}`} className="text-accent hover:underline">
            Versions, entries and uploads put aside
          </Link>
        </p>
      )}
    </Panel>
  )
}
