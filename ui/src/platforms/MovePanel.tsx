// How far the move of results into our hands has come, what both places hold, and the way on or back.
import { ArrowRight, GitCompareArrows, RotateCcw, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/kit/Button'
import { Select } from '@/kit/Field'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { type Comparison, useParity } from './api'
import { ParityReport } from './ParityReport'
import { PhaseDialog, within } from './PhaseDialog'
import { ORDER, PHASES } from './phases'
import { ReplayShadowDialog } from './ReplayShadowDialog'
import type { OnePlatform, Phase } from './types'

const HOUR_MS = 3_600_000
const SPANS = { '': 'All results', 1: 'Of the last hour', 24: 'Of the last day', 168: 'Of the last week' }

type Open = 'on' | 'back' | 'replay'

export function MovePanel({ platform }: { platform: OnePlatform }) {
  const { shadow, target } = platform.policy.writer
  const now = platform.writer.phase as Phase
  const [open, setOpen] = useState<Open | null>(null)
  const [span, setSpan] = useState('')
  const [comparison, setComparison] = useState<Comparison | null>(null)
  const parity = useParity(platform.platform, comparison)

  function compare() {
    const since = span ? new Date(Date.now() - Number(span) * HOUR_MS).toISOString() : null
    setComparison({ since, asked: Date.now() })
  }

  // What the gate goes by is all of them; a part of it proves nothing.
  const report = comparison?.since ? undefined : parity.data
  const nowhere = (way: 'on' | 'back') =>
    within(now, way).length > 0 ? null : `There is no phase ${way === 'on' ? 'after' : 'before'} this one.`
  return (
    <Panel
      title="Results"
      lead={`Written to ${target}${shadow ? `, with ${shadow} as the shadow` : ', with no shadow beside it'}.`}
      action={
        shadow && (
          <div className="flex flex-wrap justify-end gap-2">
            <Button
              icon={Undo2}
              needs="jobs.manage"
              objection={nowhere('back')}
              onClick={() => setOpen('back')}
            >
              Roll back
            </Button>
            <Button
              look="primary"
              icon={ArrowRight}
              needs="jobs.manage"
              objection={nowhere('on')}
              onClick={() => setOpen('on')}
            >
              Promote
            </Button>
          </div>
        )
      }
    >
      <Track now={now} />
      {shadow ? (
        <>
          <div className="flex flex-wrap items-center gap-2 border-t border-line bg-sunken px-4 py-2.5">
            <Select
              label="What is compared"
              isLabelHidden
              className="min-w-32 flex-1 sm:flex-none"
              value={span}
              onChange={setSpan}
              options={SPANS as Record<string, string>}
            />
            <Button icon={GitCompareArrows} isBusy={parity.isFetching} onClick={compare}>
              {comparison ? 'Compare again' : 'Compare'}
            </Button>
            <span className="flex-1" />
            <Button look="quiet" icon={RotateCcw} needs="jobs.manage" onClick={() => setOpen('replay')}>
              Shadow replay
            </Button>
          </div>
          {parity.error !== null && (
            <div className="p-4">
              <Failure
                what="Both places could not be compared."
                error={parity.error}
                onRetry={parity.refetch}
                isRetrying={parity.isFetching}
                isOld={parity.data !== undefined}
              />
            </div>
          )}
          {parity.isLoading && (
            <div
              role="status"
              aria-busy="true"
              aria-label="Comparing both places"
              className="skeleton m-4 h-24"
            />
          )}
          {parity.data && (
            <ParityReport
              report={parity.data}
              atLeast={platform.policy.writer.compare_at_least}
              isWhole={comparison?.since === null}
              at={new Date(parity.dataUpdatedAt).toISOString()}
            />
          )}
          {!comparison && (
            <p className="border-t border-line px-4 py-6 text-center text-soft">
              Not compared yet. It reads both places, chunk by chunk.
            </p>
          )}
        </>
      ) : (
        <p className="border-t border-line px-4 py-3 text-soft">
          Nothing can be compared or promoted until the platform&rsquo;s file names a place under{' '}
          <code className="font-mono text-xs">writer.shadow</code>.
        </p>
      )}
      {open === 'replay' && <ReplayShadowDialog platform={platform} onClose={() => setOpen(null)} />}
      {(open === 'on' || open === 'back') && (
        <PhaseDialog platform={platform} way={open} report={report} onClose={() => setOpen(null)} />
      )}
    </Panel>
  )
}

/** The four phases in a row, those that are behind marked. */
function Track({ now }: { now: Phase }) {
  const place = ORDER.indexOf(now)
  return (
    <ol aria-label="Phases" className="grid grid-cols-2 gap-x-3 gap-y-3 px-4 py-3 md:grid-cols-4">
      {ORDER.map((phase, index) => {
        const isNow = index === place
        return (
          <li
            key={phase}
            aria-current={isNow ? 'step' : undefined}
            className={`border-t-2 pt-1.5 ${index <= place ? 'border-accent' : 'border-line'}`}
          >
            <p className={isNow ? 'font-semibold text-accent-strong' : 'font-medium text-soft'}>
              {PHASES[phase].label}
              {isNow && <span className="font-normal text-soft"> now</span>}
            </p>
            <p className="text-xs text-soft">{PHASES[phase].means}</p>
          </li>
        )
      })}
    </ol>
  )
}
