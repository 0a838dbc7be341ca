// One platform: how it stands, what can be asked of it, and its books.
import { CirclePause, CircleSlash2, Plus, Unplug, Zap } from 'lucide-react'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useBooks } from '@/jobs/api'
import { NewJobDialog } from '@/jobs/NewJobDialog'
import { pathOf } from '@/jobs/signs'
import { Button } from '@/kit/Button'
import { Explanation } from '@/kit/Explanation'
import { Fact } from '@/kit/Fact'
import { Page, Panel } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { usePlatform, useResume } from './api'
import { LimitsChanged } from './LimitsChanged'
import { MovePanel } from './MovePanel'
import { PauseButton } from './PauseButton'
import { BreakerPanel, LimitsPanel, PricesPanel, RetryPanel } from './PolicyPanels'
import { RecentPanel } from './RecentPanel'
import { BooksBadge, FailureRate, InFlight, NextProbe, Oldest, PlatformState, pausedText } from './signs'
import { TaskTypePanel } from './TaskTypePanel'
import type { Books, OnePlatform } from './types'

export function PlatformPage() {
  const { slug = '' } = useParams()
  return (
    <Subpage noun="platform" list="Platforms" to="/platforms" query={usePlatform(slug)}>
      {(platform, failure) => <Loaded platform={platform} failure={failure} />}
    </Subpage>
  )
}

function Loaded({ platform, failure }: { platform: OnePlatform; failure: React.ReactNode }) {
  // Which kind of task a new job is begun with; null while none is.
  const [wanted, setWanted] = useState<string | null>(null)
  const navigate = useNavigate()
  const books = useBooks().data?.find((one) => one.platform === platform.platform)
  return (
    <Page
      title={platform.title}
      asks={`/v2/platforms/${platform.platform}`}
      heading={
        <Heading list="Platforms" to="/platforms" name={platform.title}>
          <span className="font-mono text-xs text-soft">{platform.platform}</span>
          <PlatformState platform={platform} />
        </Heading>
      }
      actions={
        <>
          <PauseButton platform={platform} />
          <Button look="primary" icon={Plus} needs="jobs.submit" onClick={() => setWanted('')}>
            New job
          </Button>
        </>
      }
    >
      {failure}
      {platform.paused && (
        <Explanation
          icon={CirclePause}
          tone="warn"
          also="What is in hand goes on; nothing else begins until it is resumed."
        >
          Paused {pausedText(platform)}.
        </Explanation>
      )}
      {platform.breaker.state === 'open' && <BreakerOpen platform={platform} />}
      {platform.limits_override && <LimitsChanged platform={platform} override={platform.limits_override} />}
      <Columns
        main={
          <>
            <MovePanel platform={platform} />
            <RecentPanel slug={platform.platform} />
            {Object.entries(platform.task_types).map(([name, type]) => (
              <TaskTypePanel key={name} name={name} type={type} onNew={() => setWanted(name)} />
            ))}
          </>
        }
        side={
          <>
            <StandingPanel platform={platform} />
            <BreakerPanel platform={platform} />
            <LimitsPanel platform={platform} />
            <RetryPanel platform={platform} />
            <PricesPanel platform={platform} />
            <BooksPanel books={books} slug={platform.platform} />
          </>
        }
      />
      {wanted !== null && (
        <NewJobDialog
          platform={platform.platform}
          taskType={wanted}
          onClose={() => setWanted(null)}
          onCreated={(job) => navigate(pathOf(job.id))}
        />
      )}
    </Page>
  )
}

function BreakerOpen({ platform }: { platform: OnePlatform }) {
  const { breaker } = platform
  const closing = useResume(platform.platform)
  return (
    <Explanation
      icon={breaker.probing ? CircleSlash2 : Unplug}
      tone={breaker.probing ? 'warn' : 'bad'}
      also={
        <>
          {breaker.probing
            ? 'One task is being tried; if it succeeds, the breaker closes. '
            : 'Nothing begins but one task at a time, to see whether it works again: '}
          <NextProbe breaker={breaker} />
          {breaker.probes > 0 && `, ${breaker.probes} so far`}.
        </>
      }
      action={
        !platform.paused && (
          <Button
            icon={Zap}
            needs="jobs.manage"
            isBusy={closing.isPending}
            onClick={() => closing.mutate(undefined)}
          >
            Close the breaker
          </Button>
        )
      }
    >
      Its breaker is {breaker.probing ? 'half-open' : 'open'}: {breaker.reason}.
    </Explanation>
  )
}

function StandingPanel({ platform }: { platform: OnePlatform }) {
  return (
    <Panel title="How it stands">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="In flight" title="Over all organisations it bears no more than its limit.">
          <InFlight platform={platform} />
        </Fact>
        <Fact term="Waiting">{platform.depth.toLocaleString('en')}</Fact>
        <Fact term="Oldest">
          <Oldest seconds={platform.oldest_age_seconds} />
        </Fact>
        <Fact term="Failures in an hour">
          <FailureRate rate={platform.failure_rate} />
        </Fact>
        <Fact term="Transport">{platform.transport}</Fact>
      </dl>
    </Panel>
  )
}

const NUMBERS = {
  accepted: 'Accepted',
  completed: 'Completed',
  failed: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Cancelled',
  live: 'Under way',
} as const

function BooksPanel({ books, slug }: { books: Books | undefined; slug: string }) {
  return (
    <Panel title="Books" lead="What became of all that was asked of it.">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        {(Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]).map((name) => (
          <Fact key={name} term={NUMBERS[name]}>
            {(books?.[name] ?? 0).toLocaleString('en')}
          </Fact>
        ))}
        <Fact term="The rest">
          <BooksBadge books={books} />
        </Fact>
      </dl>
      <p className="flex flex-wrap gap-x-4 border-t border-line px-4 py-2.5">
        <Link to={`/jobs?platform=${slug}`} className="text-accent hover:underline">
          Its jobs
        </Link>
        <Link to={`/dead-letters?platform=${slug}`} className="text-accent hover:underline">
          Its dead letters
        </Link>
      </p>
    </Panel>
  )
}
