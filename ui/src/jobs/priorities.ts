// How urgent a job can be, in words.
export const PRIORITIES: Record<string, string> = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [String(n), word(n)]),
)

function word(priority: number): string {
  if (priority === 0) return '0, the last'
  return priority === 9 ? '9, the first' : String(priority)
}
