// The left column: where one can go, and at its foot how fresh it all is and who one is. Narrow windows show it in a drawer.
import { Bookmark, BookOpen, Keyboard, Search, X } from 'lucide-react'
import { Link, NavLink, useLocation } from 'react-router'
import { IconButton } from '@/kit/Button'
import { removeView, useViews } from '@/kit/views'
import { FreshnessChip, RefreshControl } from '@/live/FreshnessChip'
import { RunsBadge } from '@/live/RunsBadge'
import { ConcernsBadge } from '@/overview/ConcernsBadge'
import { ReviewsBadge } from '@/reviews/ReviewsBadge'
import { Mark } from './Mark'
import { PLACES } from './navigation'
import { ReadinessDot } from './ReadinessDot'
import { ThemeToggle } from './ThemeToggle'
import { WhoAmI } from './WhoAmI'
import { ZoneToggle } from './ZoneToggle'

const ITEM =
  'flex h-7 [@media(max-height:54rem)]:h-6.5 items-center gap-2.5 rounded-md px-2.5 font-medium text-soft hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-wash aria-[current=page]:text-accent-strong'

type Props = { onNavigate?: () => void; onHelp?: () => void; onPalette: () => void }

export function Navigation({ onNavigate, onHelp, onPalette }: Props) {
  return (
    <div className="flex h-full flex-col gap-3 p-3 [@media(max-height:54rem)]:gap-2">
      <div className="flex h-9 items-center gap-2.5 pl-2.5">
        <Mark />
        <span className="flex-1 text-base font-semibold tracking-tight">leasehold</span>
        {onNavigate && <IconButton icon={X} label="Close navigation" onClick={onNavigate} />}
      </div>
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 shrink-0 items-center gap-2 rounded-md border border-line bg-sunken px-2.5 text-left text-soft hover:text-ink"
      >
        <Search aria-hidden size={14} />
        <span className="flex-1">Go to …</span>
        <kbd aria-hidden className="font-mono text-2xs">
          ⌘K
        </kbd>
      </button>
      <nav aria-label="Main" className="min-h-0 flex-1 overflow-y-auto">
        <ul className="flex flex-col gap-px">
          {PLACES.map(({ path, label, icon: Icon, isFirst }) => (
            <li key={path} className={isFirst ? 'mt-2' : ''}>
              <NavLink to={path} onClick={onNavigate} className={ITEM}>
                <Icon aria-hidden size={16} />
                {label}
                {path === '/overview' && <ConcernsBadge />}
                {path === '/reviews' && <ReviewsBadge />}
              </NavLink>
              {path === '/runs' && (
                <div className="pl-8">
                  <RunsBadge onNavigate={onNavigate} />
                </div>
              )}
            </li>
          ))}
        </ul>
        <Views onNavigate={onNavigate} />
        <a href="/docs" className={`${ITEM} mt-2.5`}>
          <BookOpen aria-hidden size={16} />
          API reference
        </a>
        {onHelp && (
          <button type="button" onClick={onHelp} className={`${ITEM} mt-px w-full`}>
            <Keyboard aria-hidden size={16} />
            Keyboard
          </button>
        )}
      </nav>
      <div className="flex items-center justify-between gap-1">
        <FreshnessChip />
        <RefreshControl />
      </div>
      <div className="-mt-2 flex items-center justify-between gap-1">
        <ReadinessDot onNavigate={onNavigate} />
        <div className="flex items-center gap-1">
          <ZoneToggle />
          <ThemeToggle />
        </div>
      </div>
      <div className="border-t border-line pt-3">
        <WhoAmI />
      </div>
    </div>
  )
}

/** Addresses with their filters, under a name. */
function Views({ onNavigate }: { onNavigate?: () => void }) {
  const views = useViews()
  const { pathname, search } = useLocation()
  return (
    <section aria-labelledby="views" className="mt-3">
      <h2 id="views" className="px-2.5 pb-1 text-2xs font-medium text-soft">
        Views
      </h2>
      <ul className="flex flex-col gap-px">
        {views.map(({ name, path, isOwn }) => (
          <li key={name} className="group flex items-center">
            <Link
              to={path}
              onClick={onNavigate}
              aria-current={path === `${pathname}${search}` ? 'page' : undefined}
              className={`${ITEM} min-w-0 flex-1`}
            >
              <Bookmark aria-hidden size={14} className="shrink-0" />
              <span className="truncate">{name}</span>
            </Link>
            {isOwn && (
              <IconButton
                icon={X}
                label={`Remove the view ${name}`}
                onClick={() => removeView(name)}
                className="!size-7 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 max-lg:opacity-100"
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
