// What this browser remembers: how the page looks, how often it asks, whose clock it goes by, and saved views.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { Button } from '@/kit/Button'
import { Panel } from '@/kit/Panel'
import { Segments } from '@/kit/Segments'
import { removeView, useViews } from '@/kit/views'
import { setZone, useZone, type Zone } from '@/kit/zone'
import { RHYTHM_WORDS } from '@/live/FreshnessChip'
import { chooseRhythm, RHYTHMS, type Rhythm, useRhythm } from '@/live/rhythm'
import { setTheme, type Theme, useTheme } from '@/shell/theme'

export function BrowserPanel() {
  const theme = useTheme()
  const zone = useZone()
  const rhythm = useRhythm()
  return (
    <Panel title="This browser" lead="Remembered here alone; nobody else sees it.">
      <div className="divide-y divide-line">
        <Line name="Theme" hint="The key t switches it.">
          <Segments
            label="Theme"
            value={theme}
            options={{ system: 'System', light: 'Light', dark: 'Dark' }}
            onChange={(name) => setTheme(name as Theme)}
          />
        </Line>
        <Line name="Times" hint="Exact times, and those in charts.">
          <Segments
            label="Times"
            value={zone}
            options={{ utc: 'UTC', local: 'Local' }}
            onChange={(name) => setZone(name as Zone)}
          />
        </Line>
        <Line name="Refresh" hint="How often pages ask for what is new.">
          <Segments
            label="Refresh"
            value={rhythm}
            options={RHYTHM_WORDS}
            order={RHYTHMS}
            onChange={(name) => chooseRhythm(name as Rhythm)}
          />
        </Line>
        <Views />
      </div>
    </Panel>
  )
}

function Line({ name, hint, children }: { name: string; hint: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div>
        <p className="font-medium">{name}</p>
        <p className="text-xs text-soft">{hint}</p>
      </div>
      {children}
    </div>
  )
}

function Views() {
  const own = useViews().filter(({ isOwn }) => isOwn)
  return (
    <div className="px-4 py-3">
      <p className="font-medium">Saved views</p>
      {own.length === 0 ? (
        <p className="text-xs text-soft">
          None of your own. The button beside a page&rsquo;s title saves what it shows under a name.
        </p>
      ) : (
        <ul aria-label="Saved views" className="mt-1 flex flex-col">
          {own.map(({ name, path }) => (
            <li key={name} className="flex items-center justify-between gap-4">
              <Link to={path} className="min-w-0 truncate text-accent-strong hover:underline">
                {name} <span className="font-mono text-xs text-soft">{path}</span>
              </Link>
              <Button look="quiet" onClick={() => removeView(name)} aria-label={`Remove the view ${name}`}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
