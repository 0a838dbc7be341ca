// The captures as rows, newest first; in a narrow window everything but the state stands under the address.
import { Link } from 'react-router'
import { Countdown } from '@/kit/Countdown'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { sized } from '@/kit/sizes'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { Url } from '@/kit/Url'
import { type Act, menuOf } from './actions'
import { fileNames, LateBadge, StateBadge, shortUrl } from './signs'
import type { Capture } from './types'

const COLUMNS = {
  capture: { title: 'Capture' },
  site: { title: 'Site', from: 'xl' },
  state: { title: 'State' },
  files: { title: 'Files', from: 'lg' },
  size: { title: 'Size', isNumber: true, from: 'sm' },
  received: { title: 'Received', isNumber: true, from: 'sm' },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

type Props = { captures: Capture[] | undefined; onAct: (act: Act, capture: Capture) => void }

export function CapturesTable({ captures, onAct }: Props) {
  return (
    <Table label="Captures" columns={Object.values(COLUMNS)} isLoading={!captures}>
      {captures?.map((capture) => (
        <Row key={capture.id} capture={capture} onAct={(act) => onAct(act, capture)} />
      ))}
    </Table>
  )
}

function Row({ capture, onAct }: { capture: Capture; onAct: (act: Act) => void }) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.capture} className="min-w-40 [overflow-wrap:anywhere] sm:w-2/5">
        <Link
          to={`/captures/${capture.id}`}
          title={capture.url}
          className="line-clamp-2 font-medium text-accent-strong hover:underline"
        >
          <Url text={shortUrl(capture)} />
        </Link>
        <div className="text-xs text-soft xl:hidden">
          at {capture.site}
          <span className="sm:hidden">
            , {sized(capture.size)}, <Moment at={capture.received_at} />
          </span>
        </div>
      </Cell>
      <Cell column={COLUMNS.site}>
        <Link to={`/sites/${capture.site}`} className="hover:underline">
          {capture.site}
        </Link>
      </Cell>
      <Cell column={COLUMNS.state} className="max-sm:w-[40%]">
        <div className="flex flex-wrap items-center gap-1">
          <StateBadge state={capture.state} />
          {capture.late && <LateBadge />}
        </div>
        <div className="max-w-64 text-xs/5 text-soft">
          <Standing capture={capture} />
        </div>
      </Cell>
      <Cell column={COLUMNS.files} className="max-w-56 text-xs/5 text-soft">
        <span className="block truncate">{fileNames(capture)}</span>
      </Cell>
      <Cell column={COLUMNS.size} className="whitespace-nowrap">
        {sized(capture.size)}
      </Cell>
      <Cell column={COLUMNS.received} className="text-soft">
        <Moment at={capture.received_at} />
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on ${shortUrl(capture)}`} items={menuOf(capture, onAct)} />
      </Cell>
    </tr>
  )
}

/** Who has it, or why it is where it is. */
function Standing({ capture }: { capture: Capture }) {
  const { state, holder, expires_at, reason, failures } = capture
  if (state === 'claimed' && expires_at) {
    return (
      <span className="[overflow-wrap:anywhere]">
        by {holder}, <Countdown until={expires_at} after=" left" over="ending" />
      </span>
    )
  }
  if (reason && (state === 'stuck' || state === 'rejected')) {
    return (
      <span title={reason} className="line-clamp-2 [overflow-wrap:anywhere]">
        {reason}
      </span>
    )
  }
  return failures > 0 && state === 'received' ? `${failures} failed` : null
}
