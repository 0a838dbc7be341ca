// The entities as rows: what each is called, how many records it is made of, and where these come from.
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { textsOf } from './comparing'
import { EntityLink } from './signs'
import type { Entity } from './types'

const COLUMNS = {
  name: { title: 'Name' },
  kind: { title: 'Kind', from: 'sm' },
  records: { title: 'Records', isNumber: true },
  sources: { title: 'Sources', from: 'sm' },
  attributes: { title: 'Attributes', from: 'xl' },
  seen: { title: 'Times seen', isNumber: true, from: 'lg' },
  updated: { title: 'Last change', isNumber: true, from: 'lg' },
} satisfies Record<string, Column>

const SOME = 3

export function EntitiesTable({ entities }: { entities: Entity[] | undefined }) {
  return (
    <Table label="Entities" columns={Object.values(COLUMNS)} isLoading={!entities}>
      {entities?.map((entity) => (
        <tr key={entity.id} className={ROW}>
          <Cell column={COLUMNS.name} className="[overflow-wrap:anywhere]">
            <EntityLink id={entity.id} name={entity.name} />
            {entity.aliases.length > 0 && (
              <div className="text-xs/5 text-soft">also {some(entity.aliases)}</div>
            )}
            <div className="text-xs/5 text-soft sm:hidden">
              {entity.kind}, {some(entity.sources)}
            </div>
          </Cell>
          <Cell column={COLUMNS.kind}>{entity.kind}</Cell>
          <Cell column={COLUMNS.records}>{entity.size.toLocaleString('en')}</Cell>
          <Cell column={COLUMNS.sources} className="min-w-44 [overflow-wrap:anywhere]">
            {some(entity.sources) || <span className="text-soft">–</span>}
          </Cell>
          <Cell column={COLUMNS.attributes}>
            <Attributes attributes={entity.attributes} />
          </Cell>
          <Cell column={COLUMNS.seen}>{entity.times_seen.toLocaleString('en')}</Cell>
          <Cell column={COLUMNS.updated} className="text-soft">
            <Moment at={entity.updated_at} />
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

/** Some of them: a name can be spelled in many ways. */
function some(words: string[]): string {
  const more = words.length - SOME
  return words.slice(0, SOME).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function Attributes({ attributes }: { attributes: Entity['attributes'] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 text-xs/5">
      {Object.entries(attributes)
        .slice(0, SOME + 1)
        .map(([name, value]) => (
          <li key={name} className="max-w-56 truncate">
            <span className="text-soft">{name.replaceAll('_', ' ')}</span> {textsOf(value).join(', ')}
          </li>
        ))}
    </ul>
  )
}
