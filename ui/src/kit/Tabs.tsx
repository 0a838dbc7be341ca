// Several views of one thing, one at a time; which one is in the address.
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { useUrlText } from './useUrlText'

export type Tab = { label: string; count?: number; render: () => ReactNode }

type Props = { label: string; tabs: Record<string, Tab> }

export function Tabs({ label, tabs }: Props) {
  const id = useId()
  const names = Object.keys(tabs)
  const [text, set] = useUrlText('tab')
  const first = names[0] ?? ''
  const chosen = text in tabs ? text : first
  const choose = (name: string) => set(name === first ? '' : name)

  function step(event: KeyboardEvent<HTMLDivElement>) {
    const here = names.indexOf(chosen)
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: -1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = names.at(to % names.length) ?? first
    choose(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }

  return (
    <section aria-label={label} className="min-w-0 rounded-lg border border-line bg-panel shadow-raised">
      <div className="overflow-x-auto border-b border-line">
        <div role="tablist" aria-label={label} onKeyDown={step} className="flex w-max gap-1 px-3">
          {names.map((name) => (
            <button
              key={name}
              id={`${id}-${name}`}
              type="button"
              role="tab"
              aria-selected={name === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={name === chosen ? 0 : -1}
              onClick={() => choose(name)}
              className="-mb-px flex h-10 items-center gap-1.5 border-b-2 border-transparent px-2.5 font-medium text-soft hover:text-ink focus-visible:-outline-offset-2 aria-selected:border-accent aria-selected:text-ink"
            >
              {tabs[name]?.label}
              {tabs[name]?.count !== undefined && (
                <span className="rounded-full bg-sunken px-1.5 text-xs text-soft">
                  {tabs[name]?.count?.toLocaleString('en')}
                </span>
              )}
            </button>
          ))}
        </div>
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        {tabs[chosen]?.render()}
      </div>
    </section>
  )
}
