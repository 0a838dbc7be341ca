// Which seeds the page shows. The filters live in the address; a value it does not know is as if it were not there.
import { useSettled } from '@/kit/useSettled'
import { useUrlText } from '@/kit/useUrlText'
import type { Wanted } from './api'

const YES_OR_NO: Record<string, boolean | undefined> = { true: true, false: false }

export function useFilters() {
  const [site, setSite] = useUrlText('site')
  const [due, setDue] = useUrlText('due')
  const [enabled, setEnabled] = useUrlText('enabled')
  const [label, setLabel] = useUrlText('label')
  const isLabel = /^[^:]+:/.test(label)
  const wanted: Wanted = {
    site: site || undefined,
    due: YES_OR_NO[due],
    enabled: YES_OR_NO[enabled],
    label: useSettled(isLabel ? label.trim() : '') || undefined,
  }

  return {
    site,
    setSite,
    due: wanted.due === undefined ? '' : due,
    setDue,
    enabled: wanted.enabled === undefined ? '' : enabled,
    setEnabled,
    label,
    setLabel,
    /** Typed, but not a label yet. */
    isHalfLabel: label.trim() !== '' && !isLabel,
    wanted,
    isFiltered: Object.values(wanted).some((value) => value !== undefined),
    clear: () => {
      for (const set of [setSite, setDue, setEnabled, setLabel]) set('')
    },
  }
}

export type Filters = ReturnType<typeof useFilters>
