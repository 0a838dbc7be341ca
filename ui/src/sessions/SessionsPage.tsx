// The browser state of every account that has one: how fresh it is, who wrote it last, and what waits for a decision.
import { Link } from 'react-router'
import { SiteFilter } from '@/accounts/SiteField'
import { useObjection } from '@/api/permissions'
import { asked } from '@/kit/copying'
import { FilterBar, Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { useSteady } from '@/kit/useSteady'
import { useUrlText } from '@/kit/useUrlText'
import { TO_SEE, useSessions } from './api'
import { SessionsTable } from './SessionsTable'

export function SessionsPage() {
  const objection = useObjection(TO_SEE)
  const [site, setSite] = useUrlText('site')
  const list = useSteady(useSessions(site || undefined, objection === null), ({ account_id }) => account_id)
  useRepeated(list)
  const clear = () => setSite('')
  return (
    <Page
      title="Sessions"
      asks={asked('/v2/sessions', { site })}
      lead="The browser state of accounts, merged from what their holders sent back. Values are never shown."
    >
      <Listing
        list={list}
        noun="session"
        objection={objection}
        isFiltered={site !== ''}
        onClear={clear}
        filters={
          <FilterBar isFiltered={site !== ''} onClear={clear}>
            <SiteFilter value={site} onChange={setSite} />
          </FilterBar>
        }
        firstUse={<FirstUse />}
      >
        <SessionsTable sessions={list.items} />
      </Listing>
    </Page>
  )
}

function FirstUse() {
  return (
    <Empty
      title="No sessions yet"
      action={
        <Link to="/accounts" className="text-accent underline">
          See the accounts
        </Link>
      }
    >
      A session is what the browser of an account holds: cookies and stored keys. Have a collector take an
      account, sign in with a browser and send its StorageState back with{' '}
      <code className="font-mono text-xs">{'PUT /v2/sessions/{account_id}'}</code>. Whoever gets the account
      next is signed in already.
    </Empty>
  )
}
