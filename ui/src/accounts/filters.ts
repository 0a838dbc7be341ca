// Which accounts the page shows. The filters live in the address; a value it does not know is as if it were not there.
import { useSettled } from '@/kit/useSettled'
import { useUrlText } from '@/kit/useUrlText'
import type { Wanted } from './api'
import { isState } from './states'

export function useFilters() {
  const [site, setSite] = useUrlText('site')
  const [state, setState] = useUrlText('state')
  const [label, setLabel] = useUrlText('label')
  const [q, setQ] = useUrlText('q')
  const isLabel = /^[^:]+:/.test(label)
  const wanted: Wanted = {
    site: site || undefined,
    state: isState(state) ? state : undefined,
    label: useSettled(isLabel ? label.trim() : '') || undefined,
    q: useSettled(q.trim()) || undefined,
  }

  function clear() {
    for (const set of [setSite, setState, setLabel, setQ]) set('')
  }

  return {
    site,
    setSite,
    state: wanted.state,
    setState,
    label,
    setLabel,
    /** Typed, but not a label yet. */
    isHalfLabel: label.trim() !== '' && !isLabel,
    q,
    setQ,
    wanted,
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear,
  }
}

export type Filters = ReturnType<typeof useFilters>
