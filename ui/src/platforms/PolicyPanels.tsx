// What a platform's file says, in panels beside how it stands: limits, breaker, retries, prices.
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/kit/Button'
import { Fact } from '@/kit/Fact'
import { briefly } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Panel } from '@/kit/Panel'
import { LimitsDialog } from './LimitsDialog'
import { BreakerBadge, NextProbe, percentText, rateText } from './signs'
import type { OnePlatform } from './types'

const seconds = (count: number) => (count < 1 ? `${count} s` : briefly(count * 1000))

function Facts({ children }: { children: React.ReactNode }) {
  return <dl className="flex flex-col gap-1.5 px-4 py-3">{children}</dl>
}

/** What its file says, where something else counts for a while. */
function Said({ children }: { children: React.ReactNode }) {
  return <span className="ml-1.5 text-xs text-soft">file says {children}</span>
}

export function LimitsPanel({ platform }: { platform: OnePlatform }) {
  const { concurrency, rate, policy, limits_override: override } = platform
  const { timeouts, canary } = policy
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Panel
      title="Limits"
      lead="Over all organisations."
      action={
        <Button
          icon={SlidersHorizontal}
          needs="jobs.manage"
          objection={platform.may_change_limits ? null : 'Another organisation sees to these.'}
          onClick={() => setIsOpen(true)}
        >
          Change limits
        </Button>
      }
    >
      {isOpen && <LimitsDialog platform={platform} onClose={() => setIsOpen(false)} />}
      <Facts>
        <Fact term="At once">
          {concurrency.toLocaleString('en')}
          {override && override.concurrency !== null && (
            <Said>{override.file.concurrency.toLocaleString('en')}</Said>
          )}
        </Fact>
        <Fact term="Rate">
          {rate ? rateText(rate) : 'no limit'}
          {override?.rate && <Said>{override.file.rate ? rateText(override.file.rate) : 'no limit'}</Said>}
        </Fact>
        {rate && <Fact term="Burst">{rate.burst.toLocaleString('en')}</Fact>}
        <Fact term="Silence" title="A worker that says nothing for so long is lost.">
          {seconds(timeouts.lease_seconds)}
        </Fact>
        {platform.transport === 'amqp' && (
          <Fact
            term="In the queue"
            title="A worker that took a task and said no word of it for so long is lost."
          >
            {seconds(timeouts.queue_seconds)}
          </Fact>
        )}
        <Fact term="Deadline" title="Of jobs whose request names none.">
          {seconds(timeouts.deadline_seconds)}
        </Fact>
        <Fact
          term="Canary"
          title="The share of tasks left to workers that try out something new, and for how long."
        >
          {canary.share > 0
            ? `${percentText(canary.share)}, for ${seconds(canary.patience_seconds)}`
            : 'none'}
        </Fact>
      </Facts>
    </Panel>
  )
}

export function BreakerPanel({ platform }: { platform: OnePlatform }) {
  const { breaker, recent } = platform
  const rule = platform.policy.breaker
  const ended = recent.succeeded + recent.failed
  return (
    <Panel
      title="Breaker"
      lead={`Opens when ${rule.percent} % of at least ${rule.at_least.toLocaleString('en')} attempts fail.`}
    >
      <Facts>
        <Fact term="It is">
          <BreakerBadge breaker={breaker} />
        </Fact>
        <Fact term={`In ${seconds(rule.window_seconds)}`} title="Attempts that ended within its window.">
          {ended === 0 ? 'nothing ended' : `${recent.failed} of ${ended} failed`}
        </Fact>
        {breaker.state === 'open' && (
          <>
            <Fact term="Probes so far">{breaker.probes}</Fact>
            <Fact term="Then">
              <NextProbe breaker={breaker} />
            </Fact>
          </>
        )}
        <Fact term="First probe" title="Each time in vain the wait doubles, up to ten times.">
          after {seconds(rule.probe_seconds)}
        </Fact>
      </Facts>
    </Panel>
  )
}

function Codes({ codes }: { codes: string[] }) {
  return codes.length === 0 ? (
    <span className="text-soft">none</span>
  ) : (
    <span className="font-mono text-xs/5">{codes.join(', ')}</span>
  )
}

export function RetryPanel({ platform }: { platform: OnePlatform }) {
  const { attempts, backoff, retryable, fatal, snooze, snoozes } = platform.policy.retry
  return (
    <Panel title="Retry">
      <Facts>
        <Fact term="Attempts">{attempts}</Fact>
        <Fact term="Wait" title={`Up to ${percentText(backoff.jitter)} of it is left to chance.`}>
          {seconds(backoff.first_seconds)}, ×{backoff.factor}, up to {seconds(backoff.most_seconds)}
        </Fact>
        <Fact term="Tried again">
          <Codes codes={retryable} />
        </Fact>
        <Fact term="Never again">
          <Codes codes={fatal} />
        </Fact>
        <Fact term="Put off" title={`Not counted as attempts; ${snoozes} times at the most.`}>
          <Codes codes={snooze} />
        </Fact>
        {snooze.length > 0 && <Fact term="Snoozes">{snoozes} at the most</Fact>}
      </Facts>
    </Panel>
  )
}

export function PricesPanel({ platform }: { platform: OnePlatform }) {
  const { prices } = platform.policy
  return (
    <Panel title="Prices" lead="The newest that is in force counts.">
      {prices.length === 0 ? (
        <p className="px-4 py-3 text-soft">None. What workers say it cost is counted all the same.</p>
      ) : (
        <Facts>
          {prices.map((price) => (
            <Fact
              key={`${price.since} ${price.task_type}`}
              term={`${price.since}${price.task_type ? `, ${price.task_type}` : ''}`}
            >
              {money(price.micros)} per {price.per}
            </Fact>
          ))}
        </Facts>
      )}
    </Panel>
  )
}
