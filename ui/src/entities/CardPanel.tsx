// The card of an entity: put together from its records, and nothing that none of them says.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { Fact } from '@/kit/Fact'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { pathOf as runPath } from '@/runs/signs'
import { addressOf } from './addresses'
import { hrefOf, textsOf, worded } from './comparing'
import { Outside } from './SideBySide'
import { short } from './signs'
import type { Entity } from './types'

export function CardPanel({ entity }: { entity: Entity }) {
  return (
    <>
      <Panel title="Card" lead="What most of its records say.">
        {Object.keys(entity.attributes).length === 0 ? (
          <p className="px-4 py-3 text-soft">No attributes.</p>
        ) : (
          <dl className="flex flex-col gap-1.5 px-4 py-3">
            {Object.entries(entity.attributes)
              .sort()
              .map(([name, value]) => (
                <Fact key={name} term={worded(name)}>
                  {textsOf(value).join(', ') || '–'}
                </Fact>
              ))}
          </dl>
        )}
        <Part title="Also known as" words={entity.aliases} />
        <Spaces title="Ids" spaces={entity.external_ids}>
          {(id, space) => <Identifier entity={entity} space={space} id={id} />}
        </Spaces>
        <Spaces title="URLs" spaces={entity.urls}>
          {(url) => (hrefOf(url) ? <Outside href={url} /> : url)}
        </Spaces>
      </Panel>
      <Panel title="Seen">
        <dl className="flex flex-col gap-1.5 px-4 py-3">
          <Fact term="Sources">{entity.sources.join(', ') || '–'}</Fact>
          <Fact term="Times">{entity.times_seen.toLocaleString('en')}</Fact>
          <Fact term="First run">
            <RunLink id={entity.first_seen_run_id} />
          </Fact>
          <Fact term="Last run">
            <RunLink id={entity.last_seen_run_id} />
          </Fact>
          <Fact term="Created">
            <Moment at={entity.created_at} />
          </Fact>
          <Fact term="Changed">
            <Moment at={entity.updated_at} />
          </Fact>
          <Fact term="Id">
            <span className="font-mono text-2xs">{entity.id}</span>
          </Fact>
        </dl>
      </Panel>
    </>
  )
}

function Part({ title, words }: { title: string; words: string[] }) {
  if (words.length === 0) return null
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-1 text-xs font-medium text-soft">{title}</h3>
      <ul className="flex flex-wrap gap-x-3 gap-y-0.5">
        {words.map((word) => (
          <li key={word} className="[overflow-wrap:anywhere]">
            {word}
          </li>
        ))}
      </ul>
    </section>
  )
}

type SpacesProps = {
  title: string
  spaces: Record<string, string[]>
  children: (word: string, space: string) => ReactNode
}

function Spaces({ title, spaces, children }: SpacesProps) {
  const filled = Object.entries(spaces).filter(([, words]) => words.length > 0)
  if (filled.length === 0) return null
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-1 text-xs font-medium text-soft">{title}</h3>
      <dl className="flex flex-col gap-1.5">
        {filled.map(([space, words]) => (
          <div key={space}>
            <dt className="text-xs text-soft">{space}</dt>
            {words.map((word) => (
              <dd key={word} className="[overflow-wrap:anywhere]">
                {children(word, space)}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  )
}

function Identifier({ entity, space, id }: { entity: Entity; space: string; id: string }) {
  const href = addressOf(entity, space, id)
  const words = <span className="font-mono text-xs/5">{id}</span>
  return href ? <Outside href={href}>{words}</Outside> : words
}

function RunLink({ id }: { id: string | null }) {
  if (!id) return <span className="text-soft">–</span>
  return (
    <Link to={runPath(id)} title={id} className="font-mono text-xs/5 text-accent-strong hover:underline">
      {short(id)}
    </Link>
  )
}
