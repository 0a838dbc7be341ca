// The surfaces pages are put together from: a page with its heading, and panels on it.
import { type ReactNode, useEffect, useId } from 'react'
import { PageMenu } from './PageMenu'

type PageProps = {
  title: string
  heading?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  /** The question to the API that has what the page shows. */
  asks?: string
  children: ReactNode
}

export function Page({ title, heading, lead, actions, asks, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · leasehold`
  }, [title])
  return (
    <main
      id="main"
      tabIndex={-1}
      className="mx-auto w-full max-w-7xl px-4 py-5 outline-none sm:px-6 lg:px-8 lg:py-7"
    >
      <header className="mb-5">
        <div className="flex min-h-8 flex-wrap items-end justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            {heading ?? <h1 className="text-xl/8 font-semibold tracking-tight">{title}</h1>}
          </div>
          <div className="flex flex-wrap items-center gap-2">
            {actions}
            <PageMenu asks={asks} />
          </div>
        </div>
        {lead && <p className="mt-0.5 text-soft max-sm:mt-1.5">{lead}</p>}
      </header>
      <div className="flex flex-col gap-4">{children}</div>
    </main>
  )
}

type PanelProps = {
  title?: string
  /** What it is called where no title is shown. */
  label?: string
  lead?: ReactNode
  action?: ReactNode
  children: ReactNode
}

export function Panel({ title, label, lead, action, children }: PanelProps) {
  const heading = useId()
  return (
    <section
      aria-labelledby={title ? heading : undefined}
      aria-label={label}
      className="min-w-0 rounded-lg border border-line bg-panel shadow-raised"
    >
      {title && (
        <header className="flex min-h-13.5 items-center justify-between gap-x-4 gap-y-1.5 border-b max-sm:flex-wrap border-line py-2 pr-2 pl-4">
          <div className="min-w-0">
            <h2 id={heading} className="font-semibold">
              {title}
            </h2>
            {lead && <p className="text-xs text-soft">{lead}</p>}
          </div>
          {action}
        </header>
      )}
      {children}
    </section>
  )
}
