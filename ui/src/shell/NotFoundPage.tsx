// An address this UI has no page for.
import { Link } from 'react-router'
import { Page, Panel } from '@/kit/Panel'
import { Empty } from '@/kit/states'

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <Panel>
        <Empty title="There is no page at this address">
          Go to{' '}
          <Link to="/sites" className="text-accent underline">
            Sites
          </Link>
          , or choose from the navigation.
        </Empty>
      </Panel>
    </Page>
  )
}
