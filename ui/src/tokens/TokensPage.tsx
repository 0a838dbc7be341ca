// Who may come in: every token, what it may do, and when it was last used.
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useObjection, useWho } from '@/api/permissions'
import type { Token } from '@/api/types'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { Tip } from '@/kit/Tip'
import { useUrlText } from '@/kit/useUrlText'
import { useTokens } from './api'
import { CreateTokenDialog } from './CreateTokenDialog'
import { RevokeTokenDialog } from './RevokeTokenDialog'

const COLUMNS = {
  name: { title: 'Name' },
  role: { title: 'Role', from: 'sm' },
  permissions: { title: 'Permissions', isNumber: true, from: 'lg' },
  created: { title: 'Created', isNumber: true, from: 'xl' },
  used: { title: 'Last used', isNumber: true, from: 'sm' },
  expires: { title: 'Expires', isNumber: true, from: 'sm' },
  actions: { title: 'Actions', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

export function TokensPage() {
  const objection = useObjection('tokens.manage')
  const list = useTokens(objection === null)
  const { data: who } = useWho()
  const [wanted, setWanted] = useUrlText('q')
  const [isCreating, setIsCreating] = useState(false)
  const [doomed, setDoomed] = useState<Token | null>(null)
  const needle = wanted.trim().toLowerCase()
  const found = list.items?.filter((token) =>
    [token.name, token.role ?? '', token.id].some((text) => text.toLowerCase().includes(needle)),
  )
  return (
    <Page
      title="Tokens"
      asks="/v2/tokens"
      lead="Everybody and everything that talks to this server carries one."
      actions={
        <Button look="primary" icon={Plus} needs="tokens.manage" onClick={() => setIsCreating(true)}>
          Create token
        </Button>
      }
    >
      {list.error !== null && (
        <Failure
          what={list.items ? 'The list could not be refreshed.' : 'The tokens could not be loaded.'}
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
          isOld={list.items !== undefined}
        />
      )}
      {objection ? (
        <Panel>
          <Empty title="Not for this token">
            {objection} Sign in with another one to see and make tokens.
          </Empty>
        </Panel>
      ) : (
        (list.error === null || found) && (
          <Panel>
            <div className="border-b border-line px-4 py-2.5">
              <SearchField label="Filter tokens" value={wanted} onChange={setWanted} isMain />
            </div>
            {found?.length === 0 ? (
              <Empty
                title="No token matches"
                action={<Button onClick={() => setWanted('')}>Clear the filter</Button>}
              >
                None of the {list.items?.length} loaded tokens has “{wanted}” in its name, role or id.
              </Empty>
            ) : (
              <Table label="Tokens" columns={Object.values(COLUMNS)} isLoading={!found}>
                {found?.map((token) => (
                  <Row
                    key={token.id}
                    token={token}
                    isOwn={token.id === who?.id}
                    onRevoke={() => setDoomed(token)}
                  />
                ))}
              </Table>
            )}
            {found && <ListFooter list={list} shown={found.length} noun="token" />}
          </Panel>
        )
      )}
      {isCreating && <CreateTokenDialog onClose={() => setIsCreating(false)} />}
      {doomed && (
        <RevokeTokenDialog token={doomed} isOwn={doomed.id === who?.id} onClose={() => setDoomed(null)} />
      )}
    </Page>
  )
}

type RowProps = { token: Token; isOwn: boolean; onRevoke: () => void }

function Row({ token, isOwn, onRevoke }: RowProps) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.name}>
        <div className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium [overflow-wrap:anywhere]">{token.name}</span>
          {isOwn && <Badge tone="accent">this one</Badge>}
        </div>
        <div title={token.id} className="hidden font-mono text-xs text-soft sm:block">
          {token.id.slice(0, 16)}…
        </div>
        <div className="text-xs text-soft sm:hidden">
          {token.role ?? 'own permissions'}, used <Moment at={token.last_used_at} />
          {token.expires_at && (
            <>
              , expires <Moment at={token.expires_at} />
            </>
          )}
        </div>
      </Cell>
      <Cell column={COLUMNS.role}>{token.role ?? <span className="text-soft">own permissions</span>}</Cell>
      <Cell column={COLUMNS.permissions}>
        <Tip text={<span className="font-mono text-2xs">{token.permissions.join(', ')}</span>}>
          <button
            type="button"
            className="-mr-1 rounded px-1 underline decoration-edge decoration-dotted underline-offset-4"
          >
            {token.permissions.length}
          </button>
        </Tip>
      </Cell>
      <Cell column={COLUMNS.created}>
        <Moment at={token.created_at} />
      </Cell>
      <Cell column={COLUMNS.used}>
        <Moment at={token.last_used_at} />
      </Cell>
      <Cell column={COLUMNS.expires}>
        <Moment at={token.expires_at} />
      </Cell>
      <Cell column={COLUMNS.actions} className="!py-1">
        <Button
          look="quiet"
          className="-mr-3"
          needs="tokens.manage"
          onClick={onRevoke}
          aria-label={`Revoke ${token.name}`}
        >
          Revoke
        </Button>
      </Cell>
    </tr>
  )
}
