// A fact on a line of its own: what it is called on the left, what it is on the right. Stands inside a <dl>.
import type { ReactNode } from 'react'

export function Fact({ term, title, children }: { term: string; title?: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="shrink-0 text-soft" title={title}>
        {term}
      </dt>
      <dd className="min-w-0 text-right [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}
