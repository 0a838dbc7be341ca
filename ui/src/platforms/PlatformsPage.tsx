// All platforms and how they stand: what they bear, what waits, how often they fail, and what keeps them.
import { whole } from '@/api/lists'
import { useObjection } from '@/api/permissions'
import { useBooks } from '@/jobs/api'
import { Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useOverview } from '@/overview/api'
import { usePlatforms } from './api'
import { PlatformsTable } from './PlatformsTable'

export function PlatformsPage() {
  const objection = useObjection('jobs.view')
  const list = whole(usePlatforms(objection === null))
  const books = useBooks(objection === null)
  const { data: seen } = useOverview(1)
  return (
    <Page
      title="Platforms"
      lead="Families of crawlers, what each of them bears, and how it stands."
      asks="/v2/platforms"
    >
      <Listing list={list} noun="platform" objection={objection} firstUse={<FirstUse />}>
        <PlatformsTable platforms={list.items} books={books.data} strips={seen?.flow?.strips} />
      </Listing>
    </Page>
  )
}

function FirstUse() {
  return (
    <Empty title="No platforms">
      A platform is a file. Put one into the folder that{' '}
      <code className="font-mono text-xs">LEASEHOLD_PLATFORMS_DIR</code> names, and it is here within a
      second.
    </Empty>
  )
}
