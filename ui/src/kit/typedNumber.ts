// A number as it was typed; an empty field is null.
export function typedNumber(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const number = Number(trimmed)
  // JSON would turn NaN into null, which can mean "no limit". The text itself is refused, next to its field.
  return Number.isNaN(number) ? (trimmed as unknown as number) : number
}
