// Why items failed: alike ones together, most frequent first.
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { worded } from '@/jobs/states'
import { Button } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { useSummary } from './api'
import { RetryDialog } from './RetryDialog'
import type { Run } from './types'

const COLUMNS = {
  code: { title: 'Failure' },
  items: { title: 'Items', isNumber: true },
  first: { title: 'First', isNumber: true, from: 'sm' },
  last: { title: 'Last', isNumber: true, from: 'sm' },
  retry: { title: 'Retry', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

type Asked = { items: number; code: string | null }

export function FailuresTab({ run, query }: { run: Run; query: ReturnType<typeof useSummary> }) {
  const { data, error, refetch, isFetching } = query
  const [, setSearch] = useSearchParams()
  const [asked, setAsked] = useState<Asked | null>(null)
  const objection = run.status === 'cancelled' ? 'It was cancelled.' : null
  if (error && !data) {
    return (
      <div className="p-4">
        <Failure
          what="The failures could not be loaded."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      </div>
    )
  }
  if (data?.failures.length === 0) return <Empty title="No failures">Nothing of it has failed.</Empty>
  return (
    <>
      <Table label="Failures" columns={Object.values(COLUMNS)} isLoading={!data}>
        {data?.failures.map((one) => (
          <tr key={one.error_code ?? ''} className={ROW}>
            <Cell column={COLUMNS.code} className="[overflow-wrap:anywhere]">
              <span className="font-medium">{worded(one.error_code ?? 'unknown')}</span>
              <div className="text-xs/5 text-soft">{one.message}</div>
            </Cell>
            <Cell column={COLUMNS.items} className="font-semibold text-bad">
              {one.items.toLocaleString('en')}
            </Cell>
            <Cell column={COLUMNS.first} className="text-soft">
              <Moment at={one.first_at} />
            </Cell>
            <Cell column={COLUMNS.last} className="text-soft">
              <Moment at={one.last_at} />
            </Cell>
            <Cell column={COLUMNS.retry}>
              {one.error_code !== null && (
                <Button
                  needs="runs.manage"
                  objection={objection}
                  onClick={() => setAsked({ items: one.items, code: one.error_code })}
                >
                  Retry these
                </Button>
              )}
            </Cell>
          </tr>
        ))}
      </Table>
      <div className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-2">
        <Button onClick={() => setSearch({ item: 'failed' })}>Show the items that failed</Button>
        <Button
          icon={RotateCcw}
          needs="runs.manage"
          objection={objection}
          onClick={() => setAsked({ items: run.failed_items, code: null })}
        >
          Retry all
        </Button>
      </div>
      {asked && <RetryDialog run={run} {...asked} onClose={() => setAsked(null)} />}
    </>
  )
}
