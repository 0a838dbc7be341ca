// The frame around every page.
import { Menu, Search } from 'lucide-react'
import { Fragment, Suspense, useEffect, useState } from 'react'
import { Outlet, useLocation, useNavigationType } from 'react-router'
import { useObjection } from '@/api/permissions'
import { IconButton } from '@/kit/Button'
import { useZone } from '@/kit/zone'
import { FreshnessChip } from '@/live/FreshnessChip'
import { RunsBadge } from '@/live/RunsBadge'
import { begin } from '@/live/store'
import { Palette } from '@/palette/Palette'
import { Boundary } from './Boundary'
import { Drawer } from './Drawer'
import { HelpDialog } from './HelpDialog'
import { LoadingPage } from './LoadingPage'
import { Mark } from './Mark'
import { Navigation } from './Navigation'
import { useShortcuts } from './shortcuts'

/** A page one goes to begins at its top, and is where the keyboard goes on; Back returns to where one was. */
function useArrival() {
  const { pathname } = useLocation()
  const kind = useNavigationType()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path is what it waits for
  useEffect(() => {
    if (kind !== 'PUSH') return
    window.scrollTo(0, 0)
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [pathname, kind])
}

/** Listens for news as long as somebody is here who may hear them. */
function useNews() {
  const isAllowed = useObjection('runs.view') === null
  useEffect(() => (isAllowed ? begin() : undefined), [isAllowed])
}

export function Shell() {
  const [open, setOpen] = useState<'drawer' | 'help' | 'palette' | null>(null)
  const close = () => setOpen(null)
  const zone = useZone()
  const { pathname } = useLocation()
  useArrival()
  useNews()
  useShortcuts({ onHelp: () => setOpen('help'), onPalette: () => setOpen('palette') })
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the page
      </a>
      <aside className="hidden border-r border-line bg-panel lg:block">
        <div className="sticky top-0 h-dvh">
          <Navigation onHelp={() => setOpen('help')} onPalette={() => setOpen('palette')} />
        </div>
      </aside>
      <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-panel px-2 lg:hidden">
        <IconButton icon={Menu} label="Open navigation" onClick={() => setOpen('drawer')} />
        <Mark size={20} />
        <span className="min-w-0 flex-1 font-semibold tracking-tight">
          <span className="max-sm:sr-only">leasehold</span>
        </span>
        <RunsBadge />
        <FreshnessChip />
        <IconButton icon={Search} label="Go to" onClick={() => setOpen('palette')} />
      </header>
      {/* In another zone every time on the page is written anew. */}
      <Fragment key={zone}>
        <Boundary key={pathname}>
          <Suspense fallback={<LoadingPage />}>
            <Outlet />
          </Suspense>
        </Boundary>
      </Fragment>
      {open === 'drawer' && <Drawer onClose={close} onPalette={() => setOpen('palette')} />}
      {open === 'palette' && <Palette onClose={close} onHelp={() => setOpen('help')} />}
      {open === 'help' && <HelpDialog onClose={close} />}
    </div>
  )
}
