// What was asked for, newest first: where each job is, how many there are of each kind, and the way to ask for another.
import { useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useObjection } from '@/api/permissions'
import { Button } from '@/kit/Button'
import { BulkBar, useChoice } from '@/kit/choosing'
import { asked } from '@/kit/copying'
import { Select } from '@/kit/Field'
import { FilterBar, Listing } from '@/kit/Listing'
import { exactly } from '@/kit/Moment'
import { Page } from '@/kit/Panel'
import { Empty } from '@/kit/states'
import { useRepeated } from '@/kit/useRepeated'
import { useSteady } from '@/kit/useSteady'
import { PlatformFilter } from '@/platforms/PlatformFilter'
import { useJobs } from './api'
import { CountsPanel } from './CountsPanel'
import { type Filters, useFilters } from './filters'
import { type Act, BULK, JobDialog } from './JobDialog'
import { JobsTable } from './JobsTable'
import { NewJobDialog } from './NewJobDialog'
import { pathOf } from './signs'
import { STATUS_NAMES, STATUSES } from './states'
import type { Job } from './types'
import { Word, WordsField } from './WordsField'

const ANY_STATUS = {
  '': 'Every status',
  ...Object.fromEntries(STATUS_NAMES.map((name) => [name, STATUSES[name].label])),
}
const AGES = { '': 'Any age', '15m': 'Over 15 min', '1h': 'Over an hour', '1d': 'Over a day' }

export function JobsPage() {
  const objection = useObjection('jobs.view')
  const filters = useFilters()
  const list = useSteady(useJobs(filters.wanted, objection === null), ({ id }) => id)
  useRepeated(list)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const choice = useChoice(list.items?.map(({ id }) => id) ?? [])
  const [open, setOpen] = useState<'new' | { act: Act; job: Job } | null>(null)
  const create = (
    <Button look="primary" icon={Plus} needs="jobs.submit" onClick={() => setOpen('new')}>
      New job
    </Button>
  )
  const isFirstUse = list.items?.length === 0 && !filters.isFiltered
  return (
    <Page
      title="Jobs"
      lead="What was asked to be crawled, and what became of it."
      actions={isFirstUse ? undefined : create}
      asks={asked('/v2/jobs', filters.wanted)}
    >
      {objection === null && !isFirstUse && <CountsPanel filters={filters} />}
      <Listing
        list={list}
        noun="job"
        objection={objection}
        isFiltered={filters.isFiltered}
        onClear={filters.clear}
        filters={
          <>
            <Bar filters={filters} jobs={list.items} />
            <BulkBar
              items={list.items ?? []}
              idOf={({ id }) => id}
              nameOf={({ id }) => id}
              choice={choice}
              acts={BULK}
              needs="jobs.manage"
              onDone={() => queries.invalidateQueries()}
            />
          </>
        }
        firstUse={<FirstUse create={create} />}
      >
        <JobsTable jobs={list.items} choice={choice} onAct={(act, job) => setOpen({ act, job })} />
      </Listing>
      {open === 'new' && (
        <NewJobDialog
          platform={filters.platform}
          onClose={() => setOpen(null)}
          onCreated={(job) => navigate(pathOf(job.id))}
        />
      )}
      {open && open !== 'new' && <JobDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function Bar({ filters, jobs }: { filters: Filters; jobs: Job[] | undefined }) {
  const { chosen, age } = filters
  const several = chosen.length > 1 ? { [chosen.join(',')]: `${chosen.length} statuses` } : {}
  return (
    <FilterBar isFiltered={filters.isFiltered} onClear={filters.clear}>
      <WordsField filters={filters} jobs={jobs} />
      <PlatformFilter value={filters.platform} onChange={filters.setPlatform} />
      <Select
        label="Status"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={chosen.join(',')}
        onChange={(status) => filters.choose(status ? status.split(',') : [])}
        options={{ ...ANY_STATUS, ...several } as Record<string, string>}
      />
      <Select
        label="Age"
        isLabelHidden
        className="min-w-32 flex-1 sm:flex-none"
        value={age || filters.before}
        onChange={filters.setAge}
        options={ages(age, filters.before)}
      />
      {filters.words.map(({ text, drop }) => (
        <Word key={text} text={text} onDrop={drop} />
      ))}
      {filters.isBounded && <span className="text-xs text-soft">Searching the last 7 days</span>}
    </FilterBar>
  )
}

/** Those one may choose, and the one the address has. */
function ages(age: string, before: string): Record<string, string> {
  const own = age && !(age in AGES) ? { [age]: `Over ${age}` } : {}
  return { ...AGES, ...own, ...(before && { [before]: `Before ${exactly(before)}` }) }
}

function FirstUse({ create }: { create: React.ReactNode }) {
  return (
    <Empty title="No jobs yet" action={create}>
      A job asks one platform or several for a crawl. Producers send them with{' '}
      <code className="font-mono text-xs">POST /v2/jobs</code>, workers take them one task at a time, and what
      they bring is kept here once.
    </Empty>
  )
}
