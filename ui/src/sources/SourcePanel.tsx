// One source: where it stands, how far its sweep is, what went wrong, and what to do about it.
import { MailX, Play, RefreshCw, Square, TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { sentence } from '@/api/problems'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Moment } from '@/kit/Moment'
import { Refused } from '@/kit/states'
import { useStart, useStop } from './api'
import { isBusy, signOf } from './states'
import type { Source } from './types'

type Props = { source: Source; onLetters: () => void }

export function SourcePanel({ source, onLetters }: Props) {
  const sign = signOf(source)
  return (
    <section
      aria-label={source.name}
      className="min-w-0 rounded-lg border border-line bg-panel shadow-raised"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
        <h2 className="font-semibold">{source.name}</h2>
        <Badge tone={sign.tone} icon={sign.icon} title={sign.means}>
          {sign.label}
        </Badge>
        {source.curated && <Badge title="Each person stands there once.">curated</Badge>}
        {source.faces === 'on' && <Badge title="Its pictures may be compared.">faces</Badge>}
        <span className="min-w-0 truncate font-mono text-xs text-soft">
          {source.url?.replace(/^https?:\/\//, '')}
        </span>
        <Actions source={source} />
      </header>
      {source.last_error && (
        <div role="alert" className="flex gap-2.5 border-b border-line bg-bad-wash px-4 py-2.5">
          <TriangleAlert aria-hidden size={16} className="mt-0.5 shrink-0 text-bad" />
          <p className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium text-bad">{source.last_error}</span> {source.next_step}
          </p>
        </div>
      )}
      {isUsed(source) && (
        <div className="grid gap-x-8 gap-y-3 px-4 py-3 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.6fr)]">
          <Progress source={source} />
          <Figures source={source} onLetters={onLetters} />
        </div>
      )}
      {!source.last_error && source.kind !== 'runs' && (
        <p className={`px-4 pb-3 text-xs text-soft ${isUsed(source) ? '' : 'pt-3'}`}>
          <Step text={source.next_step} />
        </p>
      )}
    </section>
  )
}

/** One that is switched off and never was read has nothing to show. */
function isUsed({ enabled, progress, last_sweep }: Source): boolean {
  return enabled || progress.seen > 0 || last_sweep !== null
}

/** What happens next; what is to be typed stands between backticks. */
function Step({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      <code key={part} className="rounded bg-sunken px-1 font-mono">
        {part}
      </code>
    ) : (
      part
    ),
  )
}

function Actions({ source }: { source: Source }) {
  const start = useStart(source.name)
  const stop = useStop(source.name)
  const [isAsking, setIsAsking] = useState(false)
  // Nothing is fetched for what runs have found.
  if (source.kind === 'runs') return null
  const objection = source.enabled ? null : 'Its file switches it off.'
  const goesOn = source.state === 'paused' || source.state === 'failed'
  const fault = start.error ?? stop.error
  return (
    <span className="ml-auto flex flex-wrap items-center gap-2">
      {isBusy(source) ? (
        <Button
          icon={Square}
          needs="entities.manage"
          isBusy={stop.isPending}
          onClick={() => stop.mutate(undefined)}
        >
          Stop
        </Button>
      ) : (
        <>
          <Button
            look="quiet"
            icon={RefreshCw}
            needs="entities.manage"
            objection={objection}
            onClick={() => setIsAsking(true)}
          >
            Full sweep
          </Button>
          <Button
            icon={Play}
            needs="entities.manage"
            objection={objection}
            isBusy={start.isPending}
            onClick={() => start.mutate(false)}
          >
            {goesOn ? 'Go on' : 'Start'}
          </Button>
        </>
      )}
      {fault && !isAsking && <Refused>{sentence(fault)}</Refused>}
      {isAsking && (
        <Confirm
          title={`Full sweep of ${source.name}`}
          label="Read everything again"
          needs="entities.manage"
          change={start}
          onConfirm={() => start.mutate(true, { onSuccess: () => setIsAsking(false) })}
          onClose={() => setIsAsking(false)}
        >
          <p>
            Everything it has is read again, not only what has changed. It finds out what was deleted there.
            What is the same as before is not written again.
          </p>
        </Confirm>
      )}
    </span>
  )
}

function Progress({ source }: { source: Source }) {
  const { seen, expected } = source.progress
  if (source.kind === 'runs') return <p className="text-soft">{source.next_step}</p>
  const share = expected ? Math.min(1, seen / expected) : 0
  const words = expected === null ? `${seen} seen` : `${seen} of ${expected} seen`
  return (
    <div>
      <div className="mb-1.5 flex items-baseline justify-between gap-3">
        <span>
          <span className="text-base font-semibold">{seen.toLocaleString('en')}</span>{' '}
          <span className="text-soft">{expected !== null && `of ${expected.toLocaleString('en')} `}seen</span>
        </span>
        {expected !== null && <span className="text-soft">{Math.floor(100 * share)} %</span>}
      </div>
      <div
        role="progressbar"
        aria-label={`Sweep of ${source.name}`}
        aria-valuenow={Math.round(100 * share)}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={words}
        className="h-2 overflow-hidden rounded-full bg-line"
      >
        <div
          className={`h-full transition-[width] duration-500 ${isBusy(source) ? 'bg-accent' : source.state === 'idle' ? 'bg-good' : 'bg-soft'}`}
          style={{ width: `${100 * share}%` }}
        />
      </div>
      <p className="mt-1.5 text-xs text-soft">
        {isBusy(source) ? (
          <>
            began <Moment at={source.started_at} />
          </>
        ) : source.last_sweep?.ended_at ? (
          <>
            last swept <Moment at={source.last_sweep.ended_at} />
            {source.last_sweep.mode && ` (${source.last_sweep.mode})`}
            {source.next_sweep_at && (
              <>
                , next <Moment at={source.next_sweep_at} />
              </>
            )}
          </>
        ) : (
          'never swept to the end'
        )}
      </p>
    </div>
  )
}

function Figures({ source, onLetters }: Props) {
  const { progress, rate_limit, rate_now } = source
  const number = (count: number) => count.toLocaleString('en')
  const isSwept = source.kind !== 'runs'
  return (
    <dl className="grid grid-cols-3 gap-x-4 gap-y-3 sm:grid-cols-6">
      {isSwept && (
        <>
          <Figure term="Per second">{progress.per_second.toLocaleString('en')}</Figure>
          <Figure term="Requests/min" title="As often as it is asked now, of what it bears at the most.">
            {rate_now !== null && <>{number(Math.round(rate_now))} </>}
            <span className="text-xs font-normal text-soft">of {rate_limit ?? '–'}</span>
          </Figure>
          <Figure term="Pages">{number(progress.pages)}</Figure>
          <Figure term="Handed over" title="New or changed records, which went to the writer.">
            {number(progress.handed_over)}
          </Figure>
        </>
      )}
      <Figure term="Links" title="Records of this source that are linked to those of others.">
        {number(progress.links)}
      </Figure>
      <Figure term="Errors" title="Requests that failed, and dead letters.">
        {progress.errors > 0 ? (
          <button
            type="button"
            onClick={onLetters}
            aria-label={`${number(progress.errors)}: see the dead letters of ${source.name}`}
            className="inline-flex items-center gap-1 text-bad hover:underline"
          >
            {number(progress.errors)} <MailX aria-hidden size={13} />
          </button>
        ) : (
          <span className="text-soft">0</span>
        )}
      </Figure>
    </dl>
  )
}

function Figure({ term, title, children }: { term: string; title?: string; children: ReactNode }) {
  return (
    <div title={title} className="min-w-0">
      <dt className="truncate text-xs text-soft">{term}</dt>
      <dd className="font-medium whitespace-nowrap">{children}</dd>
    </div>
  )
}
