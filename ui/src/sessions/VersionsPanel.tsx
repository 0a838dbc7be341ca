// Every version that is kept, who made it and what it changed, and the way back to it.
import { RotateCcw, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { List } from '@/api/lists'
import { Badge } from '@/kit/Badge'
import { Confirm } from '@/kit/Confirm'
import { Menu, type MenuItem } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { useRollBack, useUndo } from './api'
import { contents, howMade, isPutAside, writerOf } from './signs'
import type { Version } from './types'

const COLUMNS = {
  version: { title: 'Version', isNumber: true },
  made: { title: 'Made' },
  did: { title: 'What it did', from: 'sm' },
  contents: { title: 'Contents', from: 'lg' },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

type Open = { act: 'back' | 'undo'; version: Version }
type Props = { account: string; list: List<Version>; current: Version }

export function VersionsPanel({ account, list, current }: Props) {
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Panel
      title="Versions"
      lead="Newest first. Rolling back makes a new version, so it can be rolled back, too."
    >
      <Table label="Versions" columns={Object.values(COLUMNS)} isLoading={!list.items}>
        {list.items?.map((version) => (
          <Row
            key={version.version}
            version={version}
            isCurrent={version.version === current.version}
            onAct={(act) => setOpen({ act, version })}
          />
        ))}
      </Table>
      {list.items && <ListFooter list={list} shown={list.items.length} noun="version" />}
      {open?.act === 'back' && <BackDialog account={account} to={open.version} onClose={close} />}
      {open?.act === 'undo' && <UndoDialog account={account} of={open.version} onClose={close} />}
    </Panel>
  )
}

type RowProps = { version: Version; isCurrent: boolean; onAct: (act: Open['act']) => void }

function Row({ version, isCurrent, onAct }: RowProps) {
  const { how } = version.written
  const isUpload = (how === 'merged' || how === 'replaced') && !isPutAside(version)
  const items: MenuItem[] = [
    {
      label: 'Roll back to this version',
      icon: RotateCcw,
      needs: 'sessions.manage',
      objection: isCurrent ? 'It is the one there is now.' : null,
      onSelect: () => onAct('back'),
    },
    {
      label: 'Undo this upload',
      icon: Undo2,
      needs: 'sessions.manage',
      objection: isUpload ? null : 'Which upload made it is not known.',
      onSelect: () => onAct('undo'),
    },
  ]
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.version} className="w-16 font-medium">
        {version.version}
      </Cell>
      <Cell column={COLUMNS.made} className="[overflow-wrap:anywhere]">
        <div className="flex flex-wrap items-center gap-x-2">
          <span>{howMade(version)}</span>
          {isCurrent && <Badge tone="accent">Now</Badge>}
          {version.written.health === 'ok' && <Badge tone="good">Signed in</Badge>}
        </div>
        <div className="text-xs text-soft">
          by <span title={`Token ${version.written.by}`}>{writerOf(version)}</span>,{' '}
          <Moment at={version.updated_at} />
        </div>
        <div className="text-xs text-soft sm:hidden">{done(version)}</div>
      </Cell>
      <Cell column={COLUMNS.did} className="text-xs/5">
        {done(version)}
        {version.written.base && <div className="text-soft">from {baseOf(version.written.base)}</div>}
      </Cell>
      <Cell column={COLUMNS.contents} className="text-xs/5 text-soft">
        {contents(version)}
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on version ${version.version}`} items={items} />
      </Cell>
    </tr>
  )
}

function baseOf(base: string): string {
  if (base === 'fresh') return 'a fresh context'
  return base === 'unknown' ? 'an unknown start' : `version ${base}`
}

const WORDS = { set: 'set', deleted: 'deleted', expired: 'ended', stale_echo: 'stale', held: 'held' }

/** `5 set, 1 deleted, 2 rejected` */
function done({ counts }: Version): string {
  const parts = Object.entries(WORDS).map(([name, word]) => (counts[name] ? `${counts[name]} ${word}` : ''))
  const { rejected } = counts
  if (Array.isArray(rejected) && rejected.length > 0) parts.push(`${rejected.length} rejected`)
  return parts.filter(Boolean).join(', ') || 'nothing changed'
}

function BackDialog({ account, to, onClose }: { account: string; to: Version; onClose: () => void }) {
  const change = useRollBack(account)
  return (
    <Confirm
      title={`Roll back to version ${to.version}`}
      label="Roll back"
      needs="sessions.manage"
      change={change}
      onConfirm={() => change.mutate(to.version, { onSuccess: onClose })}
      onClose={onClose}
      isHard
    >
      <p>
        The session shows again what it showed at version {to.version}: {contents(to)}, written by{' '}
        {writerOf(to)} <Moment at={to.updated_at} />. What came after is no longer handed out, but kept.
      </p>
      <p className="text-soft">
        Whoever holds the account now goes on with what its browser has, until it gets the session again.
      </p>
    </Confirm>
  )
}

function UndoDialog({ account, of, onClose }: { account: string; of: Version; onClose: () => void }) {
  const change = useUndo(account)
  return (
    <Confirm
      title={`Undo the upload of version ${of.version}`}
      label="Undo upload"
      needs="sessions.manage"
      change={change}
      onConfirm={() => change.mutate(of.written.upload_id, { onSuccess: onClose })}
      onClose={onClose}
      isHard
    >
      <p>
        What {writerOf(of)} wrote and deleted with it is taken out ({done(of)}); what others did stays. The
        same upload cannot come back by being sent again.
      </p>
    </Confirm>
  )
}
