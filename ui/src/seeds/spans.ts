// Lengths of time as they are typed and shown: `90 s`, `15 min`, `1 h`, `2 d`.
const UNITS: Record<string, number> = { d: 86_400, h: 3_600, min: 60, s: 1 }

/** Seconds in at most two units; nothing is rounded away that was typed. */
export function span(seconds: number): string {
  const parts: string[] = []
  let left = seconds
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.join(' ') || '0 s'
}

/** The same for a list, where the two largest units say enough. */
export function roughly(seconds: number): string {
  return span(seconds).split(' ').slice(0, 4).join(' ')
}

// The longer words first: a unit is the longest that fits.
const PART = /(\d+(?:\.\d+)?)\s*(days?|d|hours?|h|minutes?|min|m|seconds?|sec|s)?\s*/gy

/** Seconds of what was typed; a bare number is seconds. Null for nothing, undefined for what is no length of time. */
export function typedSpan(text: string): number | null | undefined {
  const typed = text.trim().toLowerCase()
  if (typed === '') return null
  let seconds = 0
  let end = 0
  for (const part of typed.matchAll(PART)) {
    const unit = part[2] ?? 's'
    const name = unit.startsWith('d') ? 'd' : unit.startsWith('h') ? 'h' : unit.startsWith('m') ? 'min' : 's'
    seconds += Number(part[1]) * (UNITS[name] ?? 1)
    end = part.index + part[0].length
  }
  return end === typed.length ? Math.round(seconds) : undefined
}

export const NO_SPAN = 'Write a length of time, such as 15 min, 1 h or 2 d.'
