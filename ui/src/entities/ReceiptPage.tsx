// What is left of an erased entity: the receipt, for whoever asked for it.
import { Eraser } from 'lucide-react'
import { Link } from 'react-router'
import { LINK_LOOK } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Explanation } from '@/kit/Explanation'
import { Fact } from '@/kit/Fact'
import { Page, Panel } from '@/kit/Panel'
import { Heading } from '@/kit/Subpage'
import type { Receipt } from './types'

export function ReceiptPage({ receipt }: { receipt: Receipt }) {
  const more = Object.entries(receipt.also)
  return (
    <Page title="Erased" heading={<Heading list="Entities" to="/entities" name="Erased" />}>
      <Explanation
        tone="good"
        icon={Eraser}
        also={
          receipt.vacuumed
            ? "It is out of the database's files, too."
            : 'Its rows are deleted; the database takes them out of its files by itself, later.'
        }
      >
        The entity is erased, and does not come back by itself.
      </Explanation>
      <Panel
        title="Receipt"
        action={<CopyButton text={JSON.stringify(receipt, null, 2)} label="Copy as JSON" />}
      >
        <dl className="flex max-w-md flex-col gap-1.5 px-4 py-3">
          <Fact term="Entity">
            <span className="font-mono text-xs">{receipt.entity_id}</span>
          </Fact>
          <Fact term="Records">{receipt.records.toLocaleString('en')}</Fact>
          <Fact term="Evidence" title="Edges between its records, and from them to others.">
            {receipt.edges.toLocaleString('en')}
          </Fact>
          {more.map(([name, count]) => (
            <Fact key={name} term={name.replaceAll('_', ' ')}>
              {count.toLocaleString('en')}
            </Fact>
          ))}
          <Fact term="Marks left" title="Keyed hashes, so that none of this comes back by itself.">
            {receipt.suppressed.toLocaleString('en')}
          </Fact>
        </dl>
      </Panel>
      <div>
        <Link to="/entities" className={LINK_LOOK}>
          All entities
        </Link>
      </div>
    </Page>
  )
}
