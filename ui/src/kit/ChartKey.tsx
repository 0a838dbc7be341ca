// What a line or bar of a chart stands for: its colour and a word.
import type { ReactNode } from 'react'

export function ChartKey({ colour, children }: { colour: string; children: ReactNode }) {
  return (
    <span className="flex items-center gap-1.5">
      <span aria-hidden className={`h-0.5 w-4 ${colour}`} />
      {children}
    </span>
  )
}
