// One job: why it is where it is, its parts, what it brought, and everything that happened to it.
import { Ban, CopyPlus, MailX, RotateCcw, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Countdown } from '@/kit/Countdown'
import { Explanation } from '@/kit/Explanation'
import { Fact } from '@/kit/Fact'
import { Json } from '@/kit/Json'
import { Moment } from '@/kit/Moment'
import { money } from '@/kit/money'
import { Page, Panel } from '@/kit/Panel'
import { Columns, Heading, Subpage } from '@/kit/Subpage'
import { Failure } from '@/kit/states'
import { useExplanation, useJob } from './api'
import { HistoryPanel } from './HistoryPanel'
import { type Act, hasFailed, JobDialog, objectionTo } from './JobDialog'
import { NewJobDialog } from './NewJobDialog'
import { PartsPanel } from './PartsPanel'
import { ResultsPanel } from './ResultsPanel'
import { errorText, platformsOf, StatusBadge } from './signs'
import { isOver, STATUSES, worded } from './states'
import { TriesPanel } from './TriesPanel'
import { costOf } from './tries'
import type { Explained, Job } from './types'
import { WaitPanel } from './WaitPanel'

export function JobPage() {
  const { id = '' } = useParams()
  return (
    <Subpage noun="job" list="Jobs" to="/jobs" query={useJob(id)}>
      {(job, failure) => <Loaded job={job} failure={failure} />}
    </Subpage>
  )
}

function Loaded({ job, failure }: { job: Job; failure: React.ReactNode }) {
  const [act, setAct] = useState<Act | 'like' | null>(null)
  const navigate = useNavigate()
  const said = useExplanation(job.id, job.status)
  return (
    <Page
      title={job.id}
      asks={`/v2/jobs/${encodeURIComponent(job.id)}`}
      heading={
        <Heading list="Jobs" to="/jobs" name={job.id}>
          <span className="text-soft">
            {job.task_type} at{' '}
            {platformsOf(job).map((slug, index) => (
              <span key={slug}>
                {index > 0 && ', '}
                <Link to={`/platforms/${slug}`} className="hover:underline">
                  {slug}
                </Link>
              </span>
            ))}
          </span>
          <StatusBadge status={job.status} sub={job.sub_status} />
        </Heading>
      }
      actions={
        <>
          <Button icon={CopyPlus} needs="jobs.submit" onClick={() => setAct('like')}>
            One like it
          </Button>
          {hasFailed(job) && (
            <Button
              icon={RotateCcw}
              needs="jobs.manage"
              objection={objectionTo('retry', job)}
              onClick={() => setAct('retry')}
            >
              Retry
            </Button>
          )}
          {objectionTo('change', job) === null && (
            <Button icon={SlidersHorizontal} needs="jobs.manage" onClick={() => setAct('change')}>
              Change
            </Button>
          )}
          {objectionTo('give up', job) === null && (
            <Button icon={MailX} needs="jobs.manage" onClick={() => setAct('give up')}>
              Move to dead letters
            </Button>
          )}
          <Button
            icon={Ban}
            needs="jobs.manage"
            objection={objectionTo('cancel', job)}
            onClick={() => setAct('cancel')}
          >
            Cancel
          </Button>
        </>
      }
    >
      {failure}
      <Why job={job} said={said.data} />
      {said.error !== null && !isOver(job.status) && (
        <Failure
          what="Why it is where it is could not be found out."
          error={said.error}
          onRetry={said.refetch}
          isRetrying={said.isFetching}
          isOld={said.data !== undefined}
        />
      )}
      <Columns
        main={
          <>
            {said.data && !isOver(job.status) && (
              <WaitPanel said={said.data} isOfSeveral={job.parts.length > 1} />
            )}
            <PartsPanel job={job} />
            <TriesPanel job={job} />
            <ResultsPanel job={job} />
            <HistoryPanel job={job} />
          </>
        }
        side={
          <>
            <FactsPanel job={job} />
            <PayloadPanel job={job} />
          </>
        }
      />
      {act === 'like' && (
        <NewJobDialog
          like={job}
          onClose={() => setAct(null)}
          onCreated={(made) => {
            setAct(null)
            navigate(`/jobs/${encodeURIComponent(made.id)}`)
          }}
        />
      )}
      {act && act !== 'like' && <JobDialog act={act} job={job} onClose={() => setAct(null)} />}
    </Page>
  )
}

function Why({ job, said }: { job: Job; said: Explained | undefined }) {
  const { icon, tone } = STATUSES[job.status]
  const error = errorText(job.last_error)
  if (isOver(job.status)) {
    const why = job.status === 'completed' ? null : errorText(job.last_error, job.sub_status)
    return (
      <Explanation icon={icon} tone={tone} also={why}>
        {ending(job)}
      </Explanation>
    )
  }
  const next = said?.parts.find((part) => part.next_at)?.next_at
  return (
    <Explanation icon={icon} tone={tone} also={error && `The last error was: ${error}`}>
      {said?.detail ?? STATUSES[job.status].means}{' '}
      {next && <Countdown until={next} before="It may begin in " after="." over="It may begin now." />}
    </Explanation>
  )
}

function ending({ status, sub_status, result_count, parts }: Job): string {
  const documents = `${result_count.toLocaleString('en')} document${result_count === 1 ? '' : 's'}`
  const done = parts.filter((part) => part.status === 'completed').length
  if (status === 'completed') return `Completed with ${documents}.`
  if (status === 'partial')
    return `Partial: ${done} of ${parts.length} parts are completed, ${documents} so far.`
  if (status === 'timed_out') return 'Timed out: its deadline passed before it was done.'
  if (status === 'cancelled') return `Cancelled${result_count ? `; ${documents} had come by then` : ''}.`
  if (sub_status === 'by_hand') return 'Failed: somebody moved it to the dead letters.'
  return `Failed${sub_status ? `: ${worded(sub_status)}` : ''}. No further attempt is made by itself.`
}

function sum({ parts }: Job, name: 'snoozes' | 'losses'): number {
  return parts.reduce((total, part) => total + part[name], 0)
}

function FactsPanel({ job }: { job: Job }) {
  return (
    <Panel title="Facts" action={<CopyButton text={job.id} label="Copy id" />}>
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Created">
          <Moment at={job.created_at} />
        </Fact>
        <Fact term="Deadline">
          <Moment at={job.deadline_at} />
        </Fact>
        <Fact term="Ended">
          <Moment at={job.ended_at} otherwise="not yet" />
        </Fact>
        <Fact term="Priority" title="0 to 9; higher goes first.">
          {job.priority}
        </Fact>
        <Fact term="Attempt" title="The furthest of its parts.">
          {job.attempt} of {job.max_attempts}
        </Fact>
        <Fact term="Snoozes" title="Times it was put off; not counted as attempts.">
          {sum(job, 'snoozes')}
        </Fact>
        <Fact term="Re-dispatches" title="Workers that fell silent; not counted as attempts.">
          {sum(job, 'losses')}
        </Fact>
        <Fact term="Documents">{job.result_count.toLocaleString('en')}</Fact>
        <Fact term="Cost">{money(costOf(job))}</Fact>
        {job.run_id && (
          <Fact term="Run">
            <Link to={`/runs/${job.run_id}`} className="hover:underline">
              {job.run_id}
            </Link>
          </Fact>
        )}
      </dl>
    </Panel>
  )
}

function PayloadPanel({ job }: { job: Job }) {
  const { payload, time_range, metadata } = job
  return (
    <Panel
      title="What was asked"
      action={<CopyButton text={JSON.stringify(payload, null, 2)} label="Copy" />}
    >
      <div className="flex flex-col gap-3 px-4 py-3">
        <Json value={payload} label="Payload" />
        {time_range && <Json value={{ time_range }} label="Time range" />}
        {metadata && <Json value={{ metadata }} label="Metadata" />}
      </div>
    </Panel>
  )
}
