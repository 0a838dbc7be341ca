// All sites, and the way to make one.
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { Page, Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { ListFooter } from '@/kit/Table'
import { useUrlText } from '@/kit/useUrlText'
import { useSites } from './api'
import { CreateSiteDialog } from './CreateSiteDialog'
import { SitesTable } from './SitesTable'

function matches(site: Site, wanted: string): boolean {
  const hosts = site.mounts.map((mount) => mount.host)
  const texts = [site.slug, site.name, site.paused ? 'paused' : 'open', ...hosts]
  return texts.some((text) => text.toLowerCase().includes(wanted.toLowerCase()))
}

export function SitesPage() {
  const list = useSites()
  const navigate = useNavigate()
  const [wanted, setWanted] = useUrlText('q')
  const [isCreating, setIsCreating] = useState(false)
  const found = list.items?.filter((site) => matches(site, wanted.trim()))
  const create = (
    <Button look="primary" icon={Plus} needs="sites.manage" onClick={() => setIsCreating(true)}>
      Create site
    </Button>
  )
  const isFirstUse = list.items?.length === 0
  return (
    <Page
      title="Sites"
      asks="/v2/sites"
      lead="The places you collect from, and where each of them lives now."
      actions={isFirstUse ? undefined : create}
    >
      {list.error !== null && list.items && (
        <Failure
          what="The list could not be refreshed."
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
          isOld
        />
      )}
      {list.error !== null && !list.items ? (
        <Failure
          what="The sites could not be loaded."
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
        />
      ) : (
        <Panel>
          {isFirstUse ? (
            <Empty title="No sites yet" action={create}>
              A site is a place you collect from. It keeps its name when it moves to another address:
              accounts, sessions and seeds belong to the site, and their URLs follow it.
            </Empty>
          ) : (
            <>
              <div className="border-b border-line px-4 py-2.5">
                <SearchField
                  label="Filter sites"
                  placeholder="Filter by name, host or state"
                  value={wanted}
                  onChange={setWanted}
                  isMain
                />
              </div>
              {found?.length === 0 ? (
                <Empty
                  title="No site matches"
                  action={<Button onClick={() => setWanted('')}>Clear the filter</Button>}
                >
                  None of the {list.items?.length} loaded sites has “{wanted}” in its name, its addresses or
                  its state.{list.hasMore && ' Load more to look further.'}
                </Empty>
              ) : (
                <SitesTable sites={found} />
              )}
              {found && <ListFooter list={list} shown={found.length} noun="site" />}
            </>
          )}
        </Panel>
      )}
      {isCreating && (
        <CreateSiteDialog
          onClose={() => setIsCreating(false)}
          onCreated={(site) => navigate(`/sites/${site.slug}`)}
        />
      )}
    </Page>
  )
}
