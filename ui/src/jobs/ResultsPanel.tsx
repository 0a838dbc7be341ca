// What a job brought, in the order it came, a page at a time.
import { useState } from 'react'
import { Button } from '@/kit/Button'
import { Json } from '@/kit/Json'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { useResults } from './api'
import { isOver } from './states'
import type { Document, Job } from './types'

const COLUMNS = {
  number: { title: '#', isNumber: true },
  platform: { title: 'Platform', from: 'sm' },
  document: { title: 'Document' },
  open: { title: 'Whole', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

export function ResultsPanel({ job }: { job: Job }) {
  const list = useResults(job.id, job.result_count)
  const isEmpty = list.items?.length === 0
  return (
    <Panel title="Results" lead="The documents that workers brought, in the order they came.">
      {list.error !== null && (
        <div className="p-4">
          <Failure
            what="The documents could not be loaded."
            error={list.error}
            onRetry={list.retry}
            isRetrying={list.isRefreshing}
            isOld={list.items !== undefined}
          />
        </div>
      )}
      {isEmpty && (
        <p className="px-4 py-6 text-center text-soft">
          {isOver(job.status) ? 'It brought no documents.' : 'No documents yet.'}
        </p>
      )}
      {!isEmpty && (list.items || list.error === null) && (
        <Table label="Results" columns={Object.values(COLUMNS)} isLoading={!list.items}>
          {list.items?.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: their order is all that names them, and it never changes
            <Row key={index} item={item} number={index + 1} />
          ))}
        </Table>
      )}
      {list.items && !isEmpty && <ListFooter list={list} shown={list.items.length} noun="document" />}
    </Panel>
  )
}

function Row({ item, number }: { item: Document; number: number }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.number} className="w-12 text-soft">
        {number}
      </Cell>
      <Cell column={COLUMNS.platform} className="w-28">
        {item.platform}
      </Cell>
      <Cell column={COLUMNS.document} className="max-w-0">
        {isOpen ? (
          <Json value={item.document} label={`Document ${number}`} />
        ) : (
          <code className="block truncate font-mono text-xs/5">{JSON.stringify(item.document)}</code>
        )}
      </Cell>
      <Cell column={COLUMNS.open} className="w-16 !py-1 !pl-0">
        <Button
          look="quiet"
          aria-expanded={isOpen}
          aria-label={isOpen ? `Fold document ${number}` : `Show document ${number} whole`}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Fold' : 'Show'}
        </Button>
      </Cell>
    </tr>
  )
}
