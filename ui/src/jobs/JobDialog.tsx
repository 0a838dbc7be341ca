// Ends a job, gives it up, tries it again, or changes it on its way; each after asking once.
import { Ban, MailX, RotateCcw, SlidersHorizontal } from 'lucide-react'
import { Confirm } from '@/kit/Confirm'
import type { BulkAct } from '@/kit/choosing'
import type { MenuItem } from '@/kit/Menu'
import { cancelJob, giveUpJob, retryJob, useCancel, useRetry } from './api'
import { GiveUpDialog } from './GiveUpDialog'
import { Name } from './Name'
import { SteerDialog } from './SteerDialog'
import { isOver } from './states'
import type { Job } from './types'

export type Act = 'cancel' | 'change' | 'give up' | 'retry'

/** What keeps the books of what a job costs; producers may name runs of their own. */
const RUN = /^run_[0-9a-f]{32}$/

export function objectionTo(act: Act, job: Job): string | null {
  if (act !== 'retry') return isOver(job.status) ? 'It is over.' : null
  if (!hasFailed(job)) return 'Nothing of it has failed.'
  return job.run_id?.match(RUN) ? 'Its run pays for it: retry what failed on the page of the run.' : null
}

export function hasFailed(job: Job): boolean {
  return job.parts.some(({ status }) => isOver(status) && status !== 'completed')
}

export function menuOf(job: Job, onAct: (act: Act) => void): MenuItem[] {
  return [
    {
      label: 'Change',
      icon: SlidersHorizontal,
      needs: 'jobs.manage',
      objection: objectionTo('change', job),
      onSelect: () => onAct('change'),
    },
    {
      label: 'Retry',
      icon: RotateCcw,
      needs: 'jobs.manage',
      objection: objectionTo('retry', job),
      onSelect: () => onAct('retry'),
    },
    {
      label: 'Move to dead letters',
      icon: MailX,
      needs: 'jobs.manage',
      objection: objectionTo('give up', job),
      onSelect: () => onAct('give up'),
      isDanger: true,
    },
    {
      label: 'Cancel',
      icon: Ban,
      needs: 'jobs.manage',
      objection: objectionTo('cancel', job),
      onSelect: () => onAct('cancel'),
      isDanger: true,
    },
  ]
}

/** The same to several. */
export const BULK: BulkAct<Job>[] = [
  {
    ...{ label: 'Retry', icon: RotateCcw },
    fits: (job) => objectionTo('retry', job) === null,
    act: ({ id }) => retryJob(id),
  },
  {
    ...{ label: 'Move to dead letters', icon: MailX, isHard: true, reason: 'the page is gone' },
    fits: (job) => objectionTo('give up', job) === null,
    act: ({ id }, reason) => giveUpJob(id, reason),
  },
  {
    ...{ label: 'Cancel', icon: Ban, isHard: true },
    fits: (job) => objectionTo('cancel', job) === null,
    act: ({ id }) => cancelJob(id),
  },
]

type Props = { job: Job; onClose: () => void }

export function JobDialog({ act, ...props }: Props & { act: Act }) {
  if (act === 'change') return <SteerDialog {...props} />
  if (act === 'give up') return <GiveUpDialog {...props} />
  return act === 'cancel' ? <CancelDialog {...props} /> : <RetryDialog {...props} />
}

function CancelDialog({ job, onClose }: Props) {
  const change = useCancel(job.id)
  return (
    <Confirm
      title="Cancel the job"
      label="Cancel the job"
      needs="jobs.manage"
      change={change}
      onConfirm={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
      isHard
    >
      <Name job={job} />
      <p>
        No attempt begins any more, and a worker that has it is told with its next sign of life. Documents
        that are here stay.
      </p>
    </Confirm>
  )
}

function RetryDialog({ job, onClose }: Props) {
  const change = useRetry(job.id)
  const again = job.parts.filter(({ status }) => isOver(status) && status !== 'completed')
  return (
    <Confirm
      title="Retry the job"
      label="Retry"
      needs="jobs.manage"
      change={change}
      onConfirm={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Name job={job} />
      <p>
        {again.map(({ platform }) => platform).join(', ')} {again.length === 1 ? 'gets' : 'get'} one more
        attempt and a new deadline, from where the last one had come to.
      </p>
    </Confirm>
  )
}
