// Which columns of a table are shown, as somebody chose and this browser remembers.
import { useState } from 'react'
import type { Column } from './Table'

const KEY = 'leasehold.columns.'

/** What differs from how it is for everybody, by title. */
type Chosen = Record<string, boolean>

function read(table: string): Chosen {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY + table) ?? '{}')
    if (typeof found !== 'object' || found === null) return {}
    return Object.fromEntries(Object.entries(found).filter(([, is]) => typeof is === 'boolean'))
  } catch {
    return {}
  }
}

export type Columns = {
  all: Column[]
  isShown: (column: Column) => boolean
  /** Those one can do without. */
  free: Column[]
  toggle: (column: Column) => void
}

export function useColumns(table: string, columns: Record<string, Column>): Columns {
  const [chosen, setChosen] = useState(() => read(table))
  const all = Object.values(columns)
  const free = all.filter(({ isFixed, isHiddenTitle }) => !isFixed && !isHiddenTitle)
  const isShown = (column: Column) => !free.includes(column) || (chosen[column.title] ?? !column.isExtra)
  return {
    ...{ all, free, isShown },
    toggle(column) {
      const after = { ...chosen, [column.title]: !isShown(column) }
      localStorage.setItem(KEY + table, JSON.stringify(after))
      setChosen(after)
    },
  }
}
