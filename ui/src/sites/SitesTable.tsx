// The sites as rows; in a narrow window the address stands under the name.
import { Link } from 'react-router'
import type { Site } from '@/api/types'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { addressText, shortAddress } from './addresses'
import { SiteState, TrustMark } from './SiteState'

const COLUMNS = {
  site: { title: 'Site' },
  address: { title: 'Current address', from: 'sm' },
  state: { title: 'State' },
  cap: { title: 'Accounts at once', isNumber: true, from: 'xl' },
  moves: { title: 'Moves', isNumber: true, from: 'lg' },
  updated: { title: 'Updated', isNumber: true, from: 'sm' },
} satisfies Record<string, Column>

export function SitesTable({ sites }: { sites: Site[] | undefined }) {
  return (
    <Table label="Sites" columns={Object.values(COLUMNS)} isLoading={!sites}>
      {sites?.map((site) => (
        <Row key={site.slug} site={site} />
      ))}
    </Table>
  )
}

function Row({ site }: { site: Site }) {
  const current = site.mounts.find((mount) => mount.current)
  const address = current ? shortAddress(addressText(current)) : site.current_domain
  const { max_concurrent_accounts: cap } = site.policy
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.site} className="[overflow-wrap:anywhere] sm:w-[28%]">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <Link to={`/sites/${site.slug}`} className="font-medium text-accent-strong hover:underline">
            {site.name}
          </Link>
          {site.name !== site.slug && <span className="font-mono text-xs text-soft">{site.slug}</span>}
        </div>
        <div className="font-mono text-xs text-soft sm:hidden">{address}</div>
      </Cell>
      <Cell column={COLUMNS.address} className="[overflow-wrap:anywhere] sm:w-[30%] xl:w-[26%]">
        <div className="font-mono text-xs/5">{address}</div>
        {/* Nearly every address is trusted with credentials; only another trust is worth a line. */}
        {current && current.trust !== 'credentials' && <TrustMark trust={current.trust} />}
      </Cell>
      <Cell column={COLUMNS.state}>
        <SiteState site={site} />
        {site.pause_reason && (
          <div title={site.pause_reason} className="mt-0.5 line-clamp-2 max-w-56 text-xs text-soft">
            {site.pause_reason}
          </div>
        )}
      </Cell>
      <Cell column={COLUMNS.cap}>{cap ?? <span className="text-soft">no limit</span>}</Cell>
      {/* A site begins at epoch 1 and gains one with every move. */}
      <Cell column={COLUMNS.moves}>
        <span title={`epoch ${site.epoch}`}>{site.epoch - 1}</span>
      </Cell>
      <Cell column={COLUMNS.updated} className="text-soft">
        <Moment at={site.updated_at} />
      </Cell>
    </tr>
  )
}
