// Tries letters again: first what would be done and what would not, then how fast, then what was done.
import { useState } from 'react'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextField } from '@/kit/Field'
import { briefly } from '@/kit/Moment'
import { Failure, Refused, Warning } from '@/kit/states'
import { usePreview, useReplay } from './api'
import type { Outcome, ReplayIn } from './types'

type Props = { wish: ReplayIn; onClose: () => void; onReplayed: () => void }

export function ReplayDialog({ wish, onClose, onReplayed }: Props) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [rate, setRate] = useState('')
  const preview = usePreview(wish)
  const replay = useReplay(idempotencyKey)
  const count = preview.data?.replayed ?? 0

  function submit() {
    const rate_per_second = rate.trim() === '' ? 0 : Number(rate)
    replay.mutate({ ...wish, rate_per_second }, { onSuccess: onReplayed })
  }

  if (replay.data) {
    return (
      <Dialog title="Replayed" onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
        <Told outcome={replay.data} />
      </Dialog>
    )
  }
  return (
    <Dialog
      title="Replay dead letters"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="jobs.manage"
            isBusy={replay.isPending}
            objection={preview.data && count === 0 ? 'None of them can be replayed.' : null}
          >
            {preview.data ? `Replay ${count.toLocaleString('en')}` : 'Replay'}
          </Button>
        </>
      }
    >
      <Refused>{remainder(replay.error, ['/rate_per_second'])}</Refused>
      {preview.error && (
        <Failure
          what="What would be replayed could not be found out."
          error={preview.error}
          onRetry={preview.refetch}
          isRetrying={preview.isFetching}
        />
      )}
      {preview.isPending && (
        <div role="status" aria-busy="true" aria-label="Trying it without effect" className="skeleton h-24" />
      )}
      {preview.data && <Told outcome={preview.data} />}
      <TextField
        label="Rate"
        value={rate}
        onChange={setRate}
        inputMode="decimal"
        placeholder="all at once"
        after="per second"
        hint={paceText(Number(rate), count)}
        fault={faultAt(replay.error, '/rate_per_second')}
        isFirst
      />
    </Dialog>
  )
}

function paceText(rate: number, count: number): string {
  if (!(rate > 0) || count < 2)
    return 'How many may begin in a second. A replay can be stopped while some have not.'
  return `The last of them begins ${briefly(((count - 1) / rate) * 1000)} after the first; until then it can be stopped.`
}

/** What was done, or would be: in numbers, and the reasons why not. */
function Told({ outcome }: { outcome: Outcome }) {
  const { dry_run, replayed, matched, left, skipped, stopped } = outcome
  const again = outcome.items.filter(({ what }) => what === 'retried').length
  const sent = replayed - again
  const done = dry_run ? 'will be' : replayed === 1 ? 'was' : 'were'
  return (
    <>
      <p role="status" className="text-base font-medium">
        {replayed === 0
          ? `None of ${matched.toLocaleString('en')} ${dry_run ? 'can be' : 'was'} replayed.`
          : `${replayed.toLocaleString('en')} of ${matched.toLocaleString('en')} ${done} replayed.`}
      </p>
      {replayed > 0 && (
        <ul className="flex list-disc flex-col gap-0.5 pl-5 text-soft">
          {again > 0 && (
            <li>{counted(again, 'gets', 'get')} another attempt, from where the last had come to.</li>
          )}
          {sent > 0 && <li>{counted(sent, 'is', 'are')} sent again as before.</li>}
        </ul>
      )}
      {left > 0 && <Warning>{left.toLocaleString('en')} more match; replay again for those.</Warning>}
      {stopped && <Warning>Somebody stopped it before it was done.</Warning>}
      {skipped.length > 0 && (
        <section aria-label="Left alone" className="rounded-md border border-line">
          <h3 className="border-b border-line px-3 py-2 text-xs font-medium">
            {skipped.length.toLocaleString('en')} left alone
          </h3>
          <ul className="flex flex-col gap-1 px-3 py-2">
            {byDetail(skipped).map(([detail, count]) => (
              <li key={detail} className="flex gap-3">
                <span className="w-8 shrink-0 text-right font-medium">{count}</span>
                <span className="min-w-0 text-soft">{detail}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

function byDetail(skipped: Outcome['skipped']): [string, number][] {
  const counts = new Map<string, number>()
  for (const { detail } of skipped) counts.set(detail, (counts.get(detail) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}
