// The frame around every page.
import { Menu } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { Outlet, useLocation, useNavigationType } from 'react-router'
import { IconButton } from '@/kit/Button'
import { Drawer } from './Drawer'
import { HelpDialog } from './HelpDialog'
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

export function Shell() {
  const [open, setOpen] = useState<'drawer' | 'help' | null>(null)
  const close = () => setOpen(null)
  useArrival()
  useShortcuts(useCallback(() => setOpen('help'), []))
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the page
      </a>
      <aside className="hidden border-r border-line bg-panel lg:block">
        <div className="sticky top-0 h-dvh">
          <Navigation onHelp={() => setOpen('help')} />
        </div>
      </aside>
      <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-panel px-2 lg:hidden">
        <IconButton icon={Menu} label="Open navigation" onClick={() => setOpen('drawer')} />
        <Mark size={20} />
        <span className="font-semibold tracking-tight">leasehold</span>
      </header>
      <Outlet />
      {open === 'drawer' && <Drawer onClose={close} />}
      {open === 'help' && <HelpDialog onClose={close} />}
    </div>
  )
}
