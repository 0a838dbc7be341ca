// The session of one account: what it is now, how it came to be, what waits for a decision, and the ways back.
import { Cookie, GitFork, Inbox, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useAccount } from '@/accounts/api'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Explanation } from '@/kit/Explanation'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { AsidesPanel } from './AsidesPanel'
import { TO_SEE, useDeleteSession, useVersions } from './api'
import { EntriesPanel } from './EntriesPanel'
import { SessionFacts } from './SessionFacts'
import { Flags, isPutAside, writerOf } from './signs'
import type { Version } from './types'
import { VersionsPanel } from './VersionsPanel'

export function SessionPage() {
  const { id = '' } = useParams()
  const objection = useObjection(TO_SEE)
  const list = useVersions(id, objection === null)
  useRepeated(list)
  const account = useAccount(id)
  const query = {
    data: list.items,
    error: list.error,
    refetch: list.retry,
    isFetching: list.isRefreshing,
  }
  const whose = { id, username: account.data?.username ?? id, site: account.data?.site }
  if (objection) return <Forbidden whose={whose} objection={objection} />
  return (
    <Subpage noun="session" list="Sessions" to="/sessions" query={query}>
      {([current], failure) =>
        current ? (
          <Loaded whose={whose} current={current} list={list} failure={failure} />
        ) : (
          <None whose={whose} />
        )
      }
    </Subpage>
  )
}

type Whose = { id: string; username: string; site: string | undefined }

function Title({ whose, children }: { whose: Whose; children?: React.ReactNode }) {
  return (
    <Heading list="Sessions" to="/sessions" name={`Session of ${whose.username}`}>
      <Link to={`/accounts/${whose.id}`} className="text-accent hover:underline">
        Account
      </Link>
      {whose.site && (
        <span className="text-soft">
          at{' '}
          <Link to={`/sites/${whose.site}`} className="hover:underline">
            {whose.site}
          </Link>
        </span>
      )}
      {children}
    </Heading>
  )
}

type LoadedProps = {
  whose: Whose
  current: Version
  list: ReturnType<typeof useVersions>
  failure: React.ReactNode
}

function Loaded({ whose, current, list, failure }: LoadedProps) {
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <Page
      title={`Session of ${whose.username}`}
      asks={`/v2/sessions/${whose.id}/versions`}
      heading={
        <Title whose={whose}>
          <Flags facts={current} />
        </Title>
      }
      actions={
        <Button icon={Trash2} needs="sessions.manage" onClick={() => setIsDeleting(true)}>
          Delete
        </Button>
      }
    >
      {failure}
      <Standing current={current} />
      <AsidesPanel account={whose.id} held={current.held} branches={current.branches} />
      <Columns
        main={
          <>
            <VersionsPanel account={whose.id} list={list} current={current} />
            <EntriesPanel account={whose.id} current={current} versions={list.items ?? []} />
          </>
        }
        side={<SessionFacts current={current} />}
      />
      {isDeleting && <DeleteDialog whose={whose} onClose={() => setIsDeleting(false)} />}
    </Page>
  )
}

function Standing({ current }: { current: Version }) {
  const { held, forked, needs_exclusive: isForked, version, updated_at } = current
  if (isForked) {
    return (
      <Explanation
        icon={GitFork}
        tone="bad"
        also={`Forked: ${forked.join(', ')}. Where the site ends such sessions no merge can help: sign in anew.`}
      >
        Needs exclusive use: two leases renewed the same token at once. Let one holder at a time use this
        account.
      </Explanation>
    )
  }
  if (held.length > 0) {
    return (
      <Explanation
        icon={Inbox}
        tone="warn"
        also="It would delete cookies that may keep the account signed in, so it was not merged. Take it if that is right, or drop it."
      >
        {held.length === 1 ? 'An upload waits' : `${held.length} uploads wait`} for your decision.
      </Explanation>
    )
  }
  return (
    <Explanation
      icon={Cookie}
      tone="good"
      also={isPutAside(current) && 'The last upload was put aside, and changed nothing.'}
    >
      Version {version}
      {!isPutAside(current) && (
        <>
          , written <Moment at={updated_at} /> by {writerOf(current)}
        </>
      )}
      . The next holder starts from it.
    </Explanation>
  )
}

function Forbidden({ whose, objection }: { whose: Whose; objection: string }) {
  return (
    <Page title="Session" heading={<Title whose={whose} />}>
      <Panel>
        <Empty title="Not for this token">{objection}</Empty>
      </Panel>
    </Page>
  )
}

function None({ whose }: { whose: Whose }) {
  return (
    <Page title="Session" heading={<Title whose={whose} />}>
      <Panel>
        <Empty
          title="This account has no session"
          action={
            <Link to={`/accounts/${whose.id}`} className="text-accent underline">
              See the account
            </Link>
          }
        >
          Whoever gets it has to sign in. Once its browser's StorageState is sent back, it is kept here.
        </Empty>
      </Panel>
    </Page>
  )
}

function DeleteDialog({ whose, onClose }: { whose: Whose; onClose: () => void }) {
  const deletion = useDeleteSession(whose.id)
  const navigate = useNavigate()
  return (
    <Confirm
      title={`Delete the session of ${whose.username}`}
      label="Delete session"
      needs="sessions.manage"
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, { onSuccess: () => navigate('/sessions') })}
      onClose={onClose}
      isHard
    >
      <p>
        It is forgotten with all its versions and everything put aside, and that cannot be undone. The account
        stays; whoever gets it next has to sign in.
      </p>
    </Confirm>
  )
}
