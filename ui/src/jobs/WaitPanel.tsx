// What each part of a job waits for: the limit, who holds it, its position, and when that should clear.
import { Countdown } from '@/kit/Countdown'
import { Fact } from '@/kit/Fact'
import { Meter } from '@/kit/Meter'
import { Panel } from '@/kit/Panel'
import { worded } from './states'
import type { Explained, Saying } from './types'

export function WaitPanel({ said, isOfSeveral }: { said: Explained; isOfSeveral: boolean }) {
  const waiting = said.parts.filter(({ status }) => status === 'pending')
  if (waiting.length === 0) return null
  return (
    <Panel title="What it waits for" lead="Which limit, who holds it, and when that should clear.">
      <div className="divide-y divide-line">
        {waiting.map((part) => (
          <Part key={part.platform} part={part} isOfSeveral={isOfSeveral} />
        ))}
      </div>
    </Panel>
  )
}

function Part({ part, isOfSeveral }: { part: Saying; isOfSeveral: boolean }) {
  return (
    <section aria-label={`What it waits for at ${part.platform}`} className="flex flex-col gap-3 px-4 py-3">
      {isOfSeveral && (
        <p>
          <span className="font-medium">{part.platform}</span>{' '}
          <span className="text-soft">{part.detail}</span>
        </p>
      )}
      <div className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
        <dl className="flex flex-col gap-1.5">
          <Fact term="Because of">{worded(part.reason)}</Fact>
          <Fact term="Position" title="By priority, then by age, among those of your organisation.">
            {part.position === null ? 'none' : part.position.toLocaleString('en')}
          </Fact>
          <Fact term="Clears">
            {part.next_at ? (
              <Countdown until={part.next_at} before="in " over="any moment" />
            ) : (
              <span className="text-soft">nobody can say</span>
            )}
          </Fact>
          {part.limit !== null && (
            <Fact term="In hand" title="Over all organisations.">
              <Meter label={`In hand at ${part.platform}`} value={part.in_flight} limit={part.limit} />
            </Fact>
          )}
        </dl>
        <Holders part={part} />
      </div>
    </section>
  )
}

function Holders({ part: { holders, platform } }: { part: Saying }) {
  return (
    <div className="min-w-0">
      <h3 className="text-xs font-medium text-soft">Who has tasks of {platform}</h3>
      {holders.length === 0 ? (
        <p className="mt-1.5 text-soft">Nobody of your organisation.</p>
      ) : (
        <ul aria-label={`Holders at ${platform}`} className="mt-1.5 flex flex-col gap-1">
          {holders.map((holder) => (
            <li key={holder.owner} className="flex justify-between gap-4">
              <span className="min-w-0 [overflow-wrap:anywhere]">
                {holder.owner}{' '}
                <span className="text-soft">
                  {holder.tasks} {holder.tasks === 1 ? 'task' : 'tasks'}
                </span>
              </span>
              <span
                className="text-xs/5 text-soft"
                title="The first of its leases runs out then, unless renewed."
              >
                <Countdown until={holder.until} before="lease ends in " />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
