// The words a search field understands, `key:value`, and what could be typed next where somebody is typing.
export type Value = { value: string; hint?: string }

export type Key = {
  name: string
  /** What it narrows down to. */
  hint: string
  values: Value[]
  /** Several values go together, by commas. */
  isSeveral?: boolean
}

export type Suggestion = {
  /** What is shown: a key, or a value of it. */
  label: string
  hint?: string
  isKey: boolean
  /** The text of the field once it is taken, and where one goes on typing. */
  text: string
  caret: number
}

const MOST = 12

/** What fits the word before the caret: keys at first, then the values of the key. */
export function suggest(text: string, caret: number, keys: Key[]): Suggestion[] {
  const from = text.slice(0, caret).search(/\S*$/)
  const word = text.slice(from, caret)
  const rest = text.slice(caret).replace(/^\S*\s*/, '')
  const [, name = '', typed = ''] = /^(\w+):(.*)$/.exec(word) ?? []
  const key = keys.find((one) => one.name === name)

  function taking(inserted: string, label: string, hint: string | undefined, isKey: boolean): Suggestion {
    const before = text.slice(0, from) + inserted
    return { label, hint, isKey, text: before + rest, caret: before.length }
  }

  if (word.includes(':')) {
    if (!key) return []
    const said = key.isSeveral ? typed.slice(0, typed.lastIndexOf(',') + 1) : ''
    const taken = said.split(',')
    return fitting(key.values, typed.slice(said.length), ({ value }) => value)
      .filter(({ value }) => !taken.includes(value))
      .slice(0, MOST)
      .map(({ value, hint }) => taking(`${name}:${said}${value} `, value, hint, false))
  }
  const used = text.split(/\s+/).map((one) => one.split(':')[0])
  return fitting(keys, word, (one) => one.name)
    .filter((one) => !used.includes(one.name) || one.name === word)
    .map((one) => taking(`${one.name}:`, `${one.name}:`, one.hint, true))
}

/** Those that begin with what was typed, then those that have it somewhere; nothing for what is there already. */
function fitting<T>(all: T[], typed: string, nameOf: (one: T) => string): T[] {
  const wanted = typed.replace(/^>/, '').toLowerCase()
  const nameless = (one: T) => nameOf(one).replace(/^>/, '').toLowerCase()
  const rank = (one: T) => nameless(one).indexOf(wanted)
  return all
    .filter((one) => rank(one) >= 0 && nameless(one) !== wanted)
    .sort((one, other) => Number(rank(one) > 0) - Number(rank(other) > 0))
}
