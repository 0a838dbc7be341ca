// Which job a question is about.
import type { Job } from './types'

export function Name({ job }: { job: Job }) {
  return (
    <p>
      <span className="font-mono text-xs/5 [overflow-wrap:anywhere]">{job.id}</span>{' '}
      <span className="text-soft">({job.task_type})</span>
    </p>
  )
}
