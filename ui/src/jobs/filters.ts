// Which jobs the page shows. The filters live in the address; a word it does not know is as if it were not there.
import { useMemo } from 'react'
import { momentMs, spanMs } from '@/kit/sharing'
import { useUrlText } from '@/kit/useUrlText'
import type { Wanted } from './api'
import { isStatus } from './states'

/** `15m`, `2h`, `1d` in seconds; undefined for anything else. */
function secondsOf(age: string): number | undefined {
  const span = spanMs(age)
  return span && span / 1000
}

/** How long ago a moment was; it was asked for when the page was opened, and is not another question every second. */
function secondsSince(moment: string): number | undefined {
  const at = momentMs(moment)
  return at === undefined ? undefined : Math.max(1, Math.floor((Date.now() - at) / 1000))
}

export function useFilters() {
  const [platform, setPlatform] = useUrlText('platform')
  const [statusText, setStatus] = useUrlText('status')
  const [age, setAge] = useUrlText('age')
  const [before, setBefore] = useUrlText('before')
  const since = useMemo(() => secondsSince(before), [before])
  const chosen = statusText.split(',').filter(isStatus)
  const seconds = secondsOf(age)
  const wanted: Wanted = {
    platform: platform || undefined,
    status: chosen.join(',') || undefined,
    older_than_seconds: seconds ?? since,
  }
  return {
    ...{ wanted, platform, setPlatform, chosen, age: seconds ? age : '' },
    setAge(value: string) {
      setBefore('')
      setAge(value)
    },
    /** Made before this moment, as a link that was shared says. */
    before: seconds === undefined && since !== undefined ? before : '',
    choose: (names: string[]) => setStatus(names.join(',')),
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear: () => {
      for (const set of [setPlatform, setStatus, setAge, setBefore]) set('')
    },
    /** Words somebody typed; returns what is left of them, which can only be the id of a job. */
    read(typed: string): string {
      const rest: string[] = []
      for (const word of typed.trim().split(/\s+/)) {
        const [, name = '', value = ''] = /^(\w+):>?(.+)$/.exec(word) ?? []
        if (name === 'platform') setPlatform(value)
        else if (name === 'status' && value.split(',').every(isStatus)) setStatus(value)
        else if (name === 'age' && secondsOf(value)) setAge(value)
        else rest.push(word)
      }
      return rest.join(' ')
    },
  }
}

export type Filters = ReturnType<typeof useFilters>
