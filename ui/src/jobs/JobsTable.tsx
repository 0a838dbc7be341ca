// The jobs as rows; in a narrow window what is said of a job stands under its name.
import { Link } from 'react-router'
import { CHOOSE, type Choice, ChooseCell } from '@/kit/choosing'
import { useColumns } from '@/kit/columns'
import { Menu } from '@/kit/Menu'
import { Moment } from '@/kit/Moment'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { type Act, menuOf } from './JobDialog'
import { errorText, pathOf, platformsOf, StatusBadge } from './signs'
import { worded } from './states'
import type { Job } from './types'

const COLUMNS = {
  choose: CHOOSE,
  job: { title: 'Job', isFixed: true },
  platform: { title: 'Platform', from: 'sm' },
  status: { title: 'Status' },
  attempt: { title: 'Attempt', isNumber: true, from: 'lg' },
  results: { title: 'Documents', isNumber: true, from: 'lg' },
  priority: { title: 'Priority', isNumber: true, isExtra: true },
  run: { title: 'Run', isExtra: true },
  deadline: { title: 'Deadline', isNumber: true, isExtra: true },
  ended: { title: 'Ended', isNumber: true, isExtra: true },
  created: { title: 'Created', isNumber: true, from: 'sm' },
  actions: { title: 'Actions', isHiddenTitle: true, isNumber: true },
} satisfies Record<string, Column>

type Props = { jobs: Job[] | undefined; choice: Choice; onAct: (act: Act, job: Job) => void }

export function JobsTable({ jobs, choice, onAct }: Props) {
  const columns = useColumns('jobs', COLUMNS)
  return (
    <div data-chooses>
      <Table label="Jobs" columns={columns} isLoading={!jobs}>
        {jobs?.map((job) => (
          <Row key={job.id} job={job} choice={choice} onAct={(act) => onAct(act, job)} />
        ))}
      </Table>
    </div>
  )
}

type RowProps = { job: Job; choice: Choice; onAct: (act: Act) => void }

function Row({ job, choice, onAct }: RowProps) {
  const platforms = platformsOf(job)
  return (
    <tr className={`${ROW} ${choice.chosen.has(job.id) ? 'bg-accent-wash' : ''}`}>
      <ChooseCell id={job.id} name={job.id} choice={choice} />
      <Cell column={COLUMNS.job} className="[overflow-wrap:anywhere] sm:w-[34%]">
        <Link to={pathOf(job.id)} className="font-mono text-xs/5 text-accent-strong hover:underline">
          {job.id}
        </Link>
        <div className="text-xs/5 text-soft">
          {job.task_type}
          <span className="sm:hidden">
            {' '}
            at {platforms.join(', ')}, <Moment at={job.created_at} />
          </span>
        </div>
      </Cell>
      <Cell column={COLUMNS.platform}>
        {platforms.map((slug) => (
          <div key={slug}>
            <Link to={`/platforms/${slug}`} className="hover:underline">
              {slug}
            </Link>
          </div>
        ))}
      </Cell>
      <Cell column={COLUMNS.status} className="max-sm:w-[40%]">
        <StatusBadge status={job.status} sub={job.sub_status} />
        <div className="max-w-72 text-xs/5 text-soft">
          <Standing job={job} />
        </div>
      </Cell>
      <Cell column={COLUMNS.attempt} className="whitespace-nowrap">
        {job.attempt} <span className="text-soft">of {job.max_attempts}</span>
      </Cell>
      <Cell column={COLUMNS.results}>{job.result_count.toLocaleString('en')}</Cell>
      <Cell column={COLUMNS.priority}>{job.priority}</Cell>
      <Cell column={COLUMNS.run} className="font-mono text-xs/5">
        {job.run_id ? (
          <Link to={`/runs/${job.run_id}`} className="hover:underline">
            {job.run_id}
          </Link>
        ) : (
          <span className="text-soft">–</span>
        )}
      </Cell>
      <Cell column={COLUMNS.deadline} className="text-soft">
        <Moment at={job.deadline_at} />
      </Cell>
      <Cell column={COLUMNS.ended} className="text-soft">
        <Moment at={job.ended_at} otherwise="–" />
      </Cell>
      <Cell column={COLUMNS.created} className="text-soft">
        <Moment at={job.created_at} />
      </Cell>
      <Cell column={COLUMNS.actions} className="w-12 !py-1 !pl-0">
        <Menu label={`Actions on ${job.id}`} items={menuOf(job, onAct)} />
      </Cell>
    </tr>
  )
}

/** What went wrong last, as long as it matters. */
function Standing({ job }: { job: Job }) {
  if (job.status === 'completed') return null
  const text = errorText(job.last_error) ?? (job.sub_status && worded(job.sub_status))
  return text ? (
    <span title={text} className="line-clamp-2 [overflow-wrap:anywhere]">
      {text}
    </span>
  ) : null
}
