// How much counts have grown since they were asked for the time before.
import { useState } from 'react'

type Counts = Record<string, number>
type Seen = { of: string; at: number; counts: Counts; growth: Counts }

const NONE: Counts = {}

/** `at` is when they were answered, `of` what they count: those of something else have not grown. */
export function useGrowth(counts: Counts | undefined, at: number, of = ''): Counts {
  const [seen, setSeen] = useState<Seen | null>(null)
  if (counts && (seen?.at !== at || seen.of !== of)) {
    const before = seen?.of === of ? seen.counts : null
    setSeen({ of, at, counts, growth: before ? grown(before, counts) : NONE })
  }
  return seen?.growth ?? NONE
}

function grown(before: Counts, after: Counts): Counts {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, more]) => more > 0),
  )
}
