// Money: the API counts in millionths of a dollar, people in dollars and cents.
const MICROS = 1_000_000
const CENT = 10_000

/** `$3.20`, and as many digits as a small price needs: `$0.0004`. */
export function money(micros: number): string {
  const sign = micros < 0 ? '−' : ''
  const amount = Math.abs(micros)
  const isRough = amount >= 10 * MICROS || amount % CENT === 0
  return `${sign}$${(amount / MICROS).toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: isRough ? 2 : amount < 1000 ? 6 : 4,
  })}`
}

/** What something costs, where anybody knows. */
export function priced(micros: number | null | undefined): string {
  return micros === null || micros === undefined ? 'unknown' : money(micros)
}

/** Whole cents, never less than it may cost. */
export function moneyAtMost(micros: number): string {
  return money(Math.ceil(micros / CENT) * CENT)
}

/** Dollars as they stand in a field. */
export function dollars(micros: number): string {
  return money(micros).replace(/[$,]/g, '')
}

/** What was typed as dollars, in micros; null when it is no amount. */
export function microsOf(typed: string): number | null {
  const text = typed.trim().replace(/^\$/, '').replaceAll(',', '')
  return /^\d+(\.\d*)?$|^\.\d+$/.test(text) ? Math.round(Number(text) * MICROS) : null
}
