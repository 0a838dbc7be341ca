// What to do first where nothing was ever done.
import { Globe, ListChecks, type LucideIcon, Rocket } from 'lucide-react'
import { Link } from 'react-router'
import { Panel } from '@/kit/Panel'
import type { Overview } from './api'

const STEPS: { to: string; icon: LucideIcon; title: string; text: string }[] = [
  {
    ...{ to: '/sites', icon: Globe, title: 'Make a site' },
    text: 'A place you collect from. Its accounts, sessions and seeds are handed out on leases.',
  },
  {
    ...{ to: '/runs/new', icon: Rocket, title: 'Plan a run' },
    text: 'Collect categories of a shop for at most so much money. You see the price before it begins.',
  },
  {
    ...{ to: '/jobs', icon: ListChecks, title: 'Ask for a job' },
    text: 'One crawl at one platform or several. A worker takes it, and what it brings is kept once.',
  },
]

/** Whether there is nothing to see to, because there is nothing. */
export function isNew({ flow, spend, accounts, seeds, concerns }: Overview): boolean {
  const hasJobs = flow?.moments.some(({ accepted, completed, live }) => accepted + completed + live > 0)
  const hasAccounts = Object.values(accounts ?? {}).some((count) => count > 0)
  const hasSeeds = seeds && (seeds.overdue > 0 || seeds.minutes.some((count) => count > 0))
  return !hasJobs && !spend?.cap_micros && !hasAccounts && !hasSeeds && concerns.length === 0
}

export function FirstSteps() {
  return (
    <Panel title="Begin here" lead="Nothing needs attention, for there is nothing yet.">
      <ul
        aria-label="Begin here"
        className="grid divide-y divide-line sm:grid-cols-3 sm:divide-x sm:divide-y-0"
      >
        {STEPS.map(({ to, icon: Icon, title, text }) => (
          <li key={to} className="px-4 py-4">
            <Icon aria-hidden size={18} className="mb-1.5 text-accent" />
            <Link to={to} className="font-medium text-accent-strong hover:underline">
              {title}
            </Link>
            <p className="mt-0.5 text-soft">{text}</p>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
