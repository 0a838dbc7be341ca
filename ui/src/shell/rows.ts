// Walking a list with the keyboard: from row to row, into one, choosing it, opening what it hides.
const ROWS = '#main tbody tr, #main [data-row]'
const WAYS_IN = 'a[href], button:not([aria-haspopup])'

function rows(): HTMLElement[] {
  // Only what one sees, and what leads somewhere.
  return [...document.querySelectorAll<HTMLElement>(ROWS)].filter(
    (row) => row.offsetParent !== null && row.querySelector(WAYS_IN),
  )
}

function here(all: HTMLElement[]): number {
  const row = document.activeElement?.closest<HTMLElement>('tr, [data-row]')
  return row ? all.indexOf(row) : -1
}

/** To the next row, or the one before; from elsewhere to the first, or the last. */
function step(by: 1 | -1): boolean {
  const all = rows()
  const at = here(all)
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)
  const row = all[next]
  if (!row) return false
  row.querySelector<HTMLElement>(WAYS_IN)?.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
  return true
}

function within(selector: string): boolean {
  const row = document.activeElement?.closest('tr, [data-row]')
  const found = row?.querySelector<HTMLElement>(selector)
  found?.click()
  return Boolean(found)
}

/** Whether the key meant something here. */
export function walk(key: string): boolean {
  switch (key) {
    case 'j':
      return step(1)
    case 'k':
      return step(-1)
    case 'x':
      return within('input[type=checkbox]')
    case 'l':
      return within('[aria-expanded=false]:not([aria-haspopup])')
    case 'h':
      return within('[aria-expanded=true]:not([aria-haspopup])')
    default:
      return false
  }
}
