// The two sides of entities: who there is, and the weights by which that was decided.
import { NavLink } from 'react-router'

const PLACES = { '/entities': 'Entities', '/entities/weights': 'Weights' }

export function AreaLinks() {
  return (
    <nav
      aria-label="Entities"
      className="flex gap-1 rounded-md border border-line bg-panel p-0.5 shadow-raised"
    >
      {Object.entries(PLACES).map(([to, label]) => (
        <NavLink
          key={to}
          to={to}
          end
          className="inline-flex h-6.5 items-center rounded px-2.5 font-medium text-soft hover:text-ink aria-[current=page]:bg-accent-wash aria-[current=page]:text-accent-strong"
        >
          {label}
        </NavLink>
      ))}
    </nav>
  )
}
