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

/** The words of the search field, what each may say, and how it stands in the address. */
const WORDS: Record<string, { says: RegExp; isFit?: (value: string) => boolean }> = {
  platform: { says: /^(.+)$/ },
  status: { says: /^(.+)$/, isFit: (value) => value.split(',').every(isStatus) },
  error: { says: /^(.+)$/ },
  run: { says: /^(.+)$/ },
  attempt: { says: /^>(\d{1,4})$/ },
  age: { says: /^>?(.+)$/, isFit: (value) => secondsOf(value) !== undefined },
}

export type Typed = {
  /** What each word says. */
  said: Record<string, string>
  /** What is no word of ours: it can only be the id of a job. */
  rest: string
  /** Words of ours that say nothing one could mean. */
  unread: string[]
}

export function readWords(typed: string): Typed {
  const told: Typed = { said: {}, rest: '', unread: [] }
  const rest: string[] = []
  for (const word of typed.trim().split(/\s+/)) {
    const [, name = '', text = ''] = /^(\w+):(.*)$/.exec(word) ?? []
    const known = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined
    const value = known?.says.exec(text)?.[1]
    if (!known) rest.push(word)
    else if (value !== undefined && (known.isFit?.(value) ?? true)) told.said[name] = value
    else told.unread.push(word)
  }
  told.rest = rest.join(' ')
  return told
}

export function useFilters() {
  const [platform, setPlatform] = useUrlText('platform')
  const [statusText, setStatus] = useUrlText('status')
  const [error, setError] = useUrlText('error')
  const [run, setRun] = useUrlText('run')
  const [attemptText, setAttempt] = useUrlText('attempt')
  const [ageText, setAgeText] = useUrlText('age')
  const [before, setBefore] = useUrlText('before')
  const since = useMemo(() => secondsSince(before), [before])
  const chosen = statusText.split(',').filter(isStatus)
  const seconds = secondsOf(ageText)
  const attempt = /^\d{1,4}$/.test(attemptText) ? attemptText : ''
  const wanted: Wanted = {
    platform: platform || undefined,
    status: chosen.join(',') || undefined,
    older_than_seconds: seconds ?? since,
    run_id: run || undefined,
    error: error || undefined,
    attempt_over: attempt ? Number(attempt) : undefined,
  }
  function setAge(value: string) {
    setBefore('')
    setAgeText(value)
  }
  const setters: Record<string, (value: string) => void> = {
    ...{ platform: setPlatform, status: setStatus, error: setError, run: setRun },
    ...{ attempt: setAttempt, age: setAge },
  }
  return {
    ...{ wanted, platform, setPlatform, chosen, age: seconds ? ageText : '', setAge },
    /** Made before this moment, as a link that was shared says. */
    before: seconds === undefined && since !== undefined ? before : '',
    choose: (names: string[]) => setStatus(names.join(',')),
    /** What has no field of its own, as it is typed, and how to do without. */
    words: [
      { text: `error:${error}`, isOn: error !== '', drop: () => setError('') },
      { text: `run:${run}`, isOn: run !== '', drop: () => setRun('') },
      { text: `attempt:>${attempt}`, isOn: attempt !== '', drop: () => setAttempt('') },
    ].filter(({ isOn }) => isOn),
    /** Whether only the last seven days are looked through. */
    isBounded: error !== '' || attempt !== '',
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear: () => {
      for (const set of [...Object.values(setters), setBefore]) set('')
    },
    apply(said: Typed['said']) {
      for (const [name, value] of Object.entries(said)) setters[name]?.(value)
    },
  }
}

export type Filters = ReturnType<typeof useFilters>
