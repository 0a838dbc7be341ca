// One capture: what became of it, its files to download, where it is from, and everything that happened to it.
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { Labels } from '@/accounts/signs'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Countdown } from '@/kit/Countdown'
import { Explanation } from '@/kit/Explanation'
import { Fact } from '@/kit/Fact'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { sized } from '@/kit/sizes'
import { type Act, objectionTo } from './actions'
import { useCapture } from './api'
import { CaptureDialog } from './CaptureDialog'
import { FilesPanel } from './FilesPanel'
import { LifePanel } from './LifePanel'
import { LateBadge, StateBadge, shortUrl } from './signs'
import { isAside, STATES } from './states'
import type { Capture } from './types'

export function CapturePage() {
  const { id = '' } = useParams()
  return (
    <Subpage
      noun="capture"
      list="Captures"
      to="/captures"
      query={useCapture(id)}
      afterlife={<LifePanel id={id} isOnlyIfAny />}
    >
      {(capture, failure) => <Loaded capture={capture} failure={failure} />}
    </Subpage>
  )
}

function Loaded({ capture, failure }: { capture: Capture; failure: React.ReactNode }) {
  const [act, setAct] = useState<Act | null>(null)
  const navigate = useNavigate()
  return (
    <Page
      title={shortUrl(capture)}
      asks={`/v2/captures/${capture.id}`}
      heading={
        <Heading list="Captures" to="/captures" name={shortUrl(capture)}>
          <span className="text-soft">
            at{' '}
            <Link to={`/sites/${capture.site}`} className="hover:underline">
              {capture.site}
            </Link>
          </span>
          <StateBadge state={capture.state} />
          {capture.late && <LateBadge />}
        </Heading>
      }
      actions={
        <>
          {isAside(capture.state) && (
            <Button icon={RotateCcw} needs="captures.consume" onClick={() => setAct('requeue')}>
              Requeue
            </Button>
          )}
          <Button
            icon={Trash2}
            needs="captures.consume"
            objection={objectionTo('delete', capture)}
            onClick={() => setAct('delete')}
          >
            Delete
          </Button>
        </>
      }
    >
      {failure}
      <Why capture={capture} />
      <Columns
        main={
          <>
            <FilesPanel capture={capture} />
            <LifePanel id={capture.id} />
          </>
        }
        side={<FactsPanel capture={capture} />}
      />
      {act && (
        <CaptureDialog
          act={act}
          capture={capture}
          onClose={() => setAct(null)}
          onDeleted={() => navigate('/captures')}
        />
      )}
    </Page>
  )
}

function Why({ capture }: { capture: Capture }) {
  const { state, holder, expires_at, reason, failures } = capture
  const { icon, tone } = STATES[state]
  const failed =
    failures > 0 ? `${failures} hand-off${failures === 1 ? '' : 's'} failed or ran out.` : undefined
  return (
    <Explanation
      icon={icon}
      tone={tone}
      also={state === 'stuck' ? 'Mend what failed, then requeue it; or delete it.' : failed}
    >
      {state === 'received' && 'Waits for a consumer: the next who asks may get it.'}
      {state === 'claimed' && (
        <>
          {holder} has claimed it. The lease{' '}
          {expires_at && <Countdown until={expires_at} before="ends in " over="ends now" />} unless it is
          renewed.
        </>
      )}
      {state === 'delivered' && 'Delivered: a consumer has taken it over.'}
      {state === 'rejected' && `Rejected by a consumer: ${reason ?? 'no reason given'}.`}
      {state === 'stuck' &&
        `Stuck: ${failures} hand-offs failed${reason ? `, the last with: ${reason}` : ''}.`}
    </Explanation>
  )
}

function Ids({ term, id, to }: { term: string; id: string | null; to?: string }) {
  if (!id) return null
  return (
    <div className="mt-1">
      <dt className="text-soft">{term}</dt>
      <dd className="font-mono text-xs/5 break-all select-all">
        {to ? (
          <Link to={to} className="text-accent hover:underline">
            {id}
          </Link>
        ) : (
          id
        )}
      </dd>
    </div>
  )
}

function FactsPanel({ capture }: { capture: Capture }) {
  return (
    <Panel title="Facts" action={<CopyButton text={capture.url} label="Copy URL" />}>
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <div>
          <dt className="text-soft">URL</dt>
          <dd className="font-mono text-xs/5 break-all select-all">{capture.url}</dd>
        </div>
        <Fact term="Captured">
          <Moment at={capture.captured_at} />
        </Fact>
        <Fact term="Received">
          <Moment at={capture.received_at} />
        </Fact>
        <Fact term="Updated">
          <Moment at={capture.updated_at} />
        </Fact>
        <Fact term="Size">{sized(capture.size)}</Fact>
        <Fact term="Failed hand-offs" title="At 5 it is stuck.">
          {capture.failures}
        </Fact>
        <Ids term="Account" id={capture.account_id} to={`/accounts/${capture.account_id}`} />
        <Ids term="Seed" id={capture.seed_id} to={`/seeds/${capture.seed_id}`} />
        <Ids term="Job" id={capture.job_id} />
        <Ids term="Collected under the lease" id={capture.source_lease_id} />
        {Object.keys(capture.labels).length > 0 && (
          <div className="mt-1">
            <dt className="text-soft">Labels</dt>
            <dd className="mt-1">
              <Labels labels={capture.labels} />
            </dd>
          </div>
        )}
        <Ids term="Id" id={capture.id} />
      </dl>
    </Panel>
  )
}
