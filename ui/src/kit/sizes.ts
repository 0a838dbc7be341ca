// Amounts of bytes as people read them.
const UNITS = ['kB', 'MB', 'GB', 'TB']

/** `812 B`, `4.2 kB`, `17 MB`: two digits are enough to compare by. */
export function sized(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let size = bytes
  let unit = ''
  for (unit of UNITS) {
    size /= 1000
    if (size < 999.5) break
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`
}
