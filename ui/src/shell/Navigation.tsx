// The left column: where one can go, and at its foot how the server is and who one is. Narrow windows show it in a drawer.
import { BookOpen, Keyboard, X } from 'lucide-react'
import { NavLink } from 'react-router'
import { IconButton } from '@/kit/Button'
import { Mark } from './Mark'
import { PLACES } from './navigation'
import { ReadinessDot } from './ReadinessDot'
import { ThemeToggle } from './ThemeToggle'
import { WhoAmI } from './WhoAmI'

const ITEM =
  'flex h-8 items-center gap-2.5 rounded-md px-2.5 font-medium text-soft hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-wash aria-[current=page]:text-accent-strong'

type Props = { onNavigate?: () => void; onHelp?: () => void }

export function Navigation({ onNavigate, onHelp }: Props) {
  return (
    <div className="flex h-full flex-col gap-4 p-3">
      <div className="flex h-9 items-center gap-2.5 pl-2.5">
        <Mark />
        <span className="flex-1 text-base font-semibold tracking-tight">leasehold</span>
        {onNavigate && <IconButton icon={X} label="Close navigation" onClick={onNavigate} />}
      </div>
      <nav aria-label="Main" className="flex-1">
        <ul className="flex flex-col gap-0.5">
          {PLACES.map(({ path, label, icon: Icon }) => (
            <li key={path}>
              <NavLink to={path} onClick={onNavigate} className={ITEM}>
                <Icon aria-hidden size={16} />
                {label}
              </NavLink>
            </li>
          ))}
        </ul>
        <a href="/docs" className={`${ITEM} mt-4`}>
          <BookOpen aria-hidden size={16} />
          API reference
        </a>
        {onHelp && (
          <button type="button" onClick={onHelp} className={`${ITEM} mt-0.5 w-full`}>
            <Keyboard aria-hidden size={16} />
            Keyboard
          </button>
        )}
      </nav>
      <div className="flex items-center justify-between">
        <ReadinessDot onNavigate={onNavigate} />
        <ThemeToggle />
      </div>
      <div className="border-t border-line pt-3">
        <WhoAmI />
      </div>
    </div>
  )
}
