// The words the field above jobs understands, with the values that are known: platforms, statuses, errors, runs.
import { useObjection } from '@/api/permissions'
import type { Key } from '@/kit/grammar'
import { useCounts } from '@/letters/api'
import { usePlatforms } from '@/platforms/api'
import { useRuns } from '@/runs/api'
import { STATUS_NAMES, STATUSES, worded } from './states'
import type { Job } from './types'

const FIXED = {
  status: STATUS_NAMES.map((value) => ({ value, hint: STATUSES[value].means })),
  attempt: [
    { value: '>1', hint: 'tried again' },
    { value: '>2', hint: 'tried three times or more' },
    { value: '>4', hint: 'tried five times or more' },
  ],
  age: [
    { value: '>10m', hint: 'over ten minutes' },
    { value: '>1h', hint: 'over an hour' },
    { value: '>1d', hint: 'over a day' },
  ],
}

/** `isWanted`: somebody is typing. Errors are those of the jobs on the page and those something died of. */
export function useWords(jobs: Job[] | undefined, isWanted: boolean): Key[] {
  const mayRuns = useObjection('runs.view') === null
  const platforms = usePlatforms(isWanted).data
  const counts = useCounts('', isWanted).data
  const runs = useRuns({}, isWanted && mayRuns).items
  const seen = jobs?.map(({ last_error }) => String(last_error?.code ?? '')) ?? []
  const died = counts?.map(({ reason }) => reason) ?? []
  const errors = [...new Set([...seen, ...died])].filter(Boolean)
  return [
    {
      name: 'platform',
      hint: 'where it is asked for',
      values: platforms?.map(({ platform, title }) => ({ value: platform, hint: title })) ?? [],
    },
    { name: 'status', hint: 'where it is; several by commas', values: FIXED.status, isSeveral: true },
    {
      name: 'error',
      hint: 'its last error, or what it failed of',
      values: errors.map((value) => ({ value, hint: worded(value) === value ? undefined : worded(value) })),
    },
    {
      name: 'run',
      hint: 'the run it is of',
      values: runs?.map(({ id, name }) => ({ value: id, hint: name ?? undefined })) ?? [],
    },
    { name: 'attempt', hint: 'how often it was tried', values: FIXED.attempt },
    { name: 'age', hint: 'how long ago it was asked for', values: FIXED.age },
  ]
}
