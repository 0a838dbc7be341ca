// Copies a text, also on plain HTTP, where the clipboard API is missing.
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  // Outside an open dialog nothing can be selected: a modal makes the rest of the page inert.
  const home = document.querySelector('dialog[open]') ?? document.body
  home.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error('copying was refused')
}

/** The same question for a shell. The token is named, never written out. */
export function curl(path: string): string {
  const address = new URL(path, window.location.origin)
  return `curl -H "Authorization: Bearer $LEASEHOLD_TOKEN" '${address}'`
}

/** A path with the parameters that are given. */
export function asked(
  path: string,
  wanted: Record<string, string | number | boolean | undefined> = {},
): string {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `${path}?${query}` : path
}
