// Which platforms' results are on their way into our hands, how far each is, and whether both places hold the same.
import { GitCompareArrows } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { whole } from '@/api/lists'
import { useObjection } from '@/api/permissions'
import { sentence } from '@/api/problems'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Listing } from '@/kit/Listing'
import { Page } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { Empty } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useUrlText } from '@/kit/useUrlText'
import { type Comparison, useParity, usePlatforms } from '@/platforms/api'
import { ORDER, PHASES } from '@/platforms/phases'
import { percentText } from '@/platforms/signs'
import type { Phase, Platform } from '@/platforms/types'

const SHOWN = { '': 'In a move', all: 'All platforms' }

export function ParityPage() {
  const objection = useObjection('jobs.view')
  const [text, setText] = useUrlText('show')
  const shown = text === 'all' ? 'all' : ''
  const platforms = usePlatforms(objection === null)
  const moving = platforms.data?.filter(({ shadow }) => shadow !== null || shown === 'all')
  const list = whole({ ...platforms, data: moving })
  const hasAny = (platforms.data?.length ?? 0) > 0
  return (
    <Page
      title="Parity"
      lead="Results on their way to another place: compared first, promoted then."
      asks="/v2/platforms"
      actions={
        hasAny && <Segments label="Which platforms" value={shown} options={SHOWN} onChange={setText} />
      }
    >
      <Listing
        list={list}
        noun="platform"
        objection={objection}
        firstUse={
          <Empty title="Nothing is being moved">
            A platform whose file names a place under <code className="font-mono text-xs">writer.shadow</code>{' '}
            has its results written there, too. Both places are compared here, and the move goes on when they
            hold the same.
          </Empty>
        }
      >
        <ParityTable platforms={moving} />
      </Listing>
    </Page>
  )
}

const COLUMNS = {
  platform: { title: 'Platform' },
  phase: { title: 'Phase' },
  places: { title: 'From where to where', from: 'sm' },
  result: { title: 'Compared' },
  actions: { title: 'Actions', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

function ParityTable({ platforms }: { platforms: Platform[] | undefined }) {
  return (
    <Table label="Parity" columns={Object.values(COLUMNS)} isLoading={!platforms}>
      {platforms?.map((platform) => (
        <Row key={platform.platform} platform={platform} />
      ))}
    </Table>
  )
}

function Row({ platform }: { platform: Platform }) {
  const [comparison, setComparison] = useState<Comparison | null>(null)
  const { data, error, isFetching } = useParity(platform.platform, comparison)
  const phase = platform.writer.phase as Phase
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.platform}>
        <Link
          to={`/platforms/${platform.platform}`}
          className="font-medium text-accent-strong hover:underline"
        >
          {platform.title}
        </Link>
        <div className="font-mono text-xs/5 text-soft">{platform.platform}</div>
      </Cell>
      <Cell column={COLUMNS.phase}>
        <span title={PHASES[phase].means}>{PHASES[phase].label}</span>
        <div className="text-xs/5 text-soft">
          {ORDER.indexOf(phase) + 1} of {ORDER.length}
        </div>
      </Cell>
      <Cell column={COLUMNS.places}>
        {platform.writer.target}
        <div className="text-xs/5 text-soft">
          {platform.shadow ? `shadow: ${platform.shadow}` : 'no shadow beside it'}
        </div>
      </Cell>
      <Cell column={COLUMNS.result}>
        <span role="status">
          {error ? (
            <span className="text-bad">{sentence(error)}</span>
          ) : data ? (
            <Verdict share={data.share} equal={data.equal} compared={data.compared} />
          ) : (
            <span className="text-soft">{isFetching ? 'Comparing…' : 'Not yet'}</span>
          )}
        </span>
      </Cell>
      <Cell column={COLUMNS.actions} className="!py-1.5">
        <Button
          look="quiet"
          icon={GitCompareArrows}
          isBusy={isFetching}
          objection={platform.shadow ? null : 'Its file names no shadow.'}
          aria-label={`Compare ${platform.platform}`}
          onClick={() => setComparison({ since: null, asked: Date.now() })}
        >
          Compare
        </Button>
      </Cell>
    </tr>
  )
}

function Verdict({ share, equal, compared }: { share: number | null; equal: number; compared: number }) {
  if (share === null) return <span className="text-soft">Nothing to compare yet</span>
  return (
    <>
      <Badge tone={share === 1 ? 'good' : 'bad'}>{share === 1 ? 'The same' : percentText(share)}</Badge>
      <div className="text-xs/5 text-soft">
        {equal.toLocaleString('en')} of {compared.toLocaleString('en')} chunks
      </div>
    </>
  )
}
