// Replays of which something has not begun yet, and the way to stop them.
import { OctagonX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Countdown } from '@/kit/Countdown'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { useRepeated } from '@/kit/useRepeated'
import { useReplays, useStop } from './api'
import type { Replay } from './types'

export function ReplaysPanel() {
  const list = useReplays(true)
  useRepeated(list)
  const [stopping, setStopping] = useState<Replay | null>(null)
  const underWay = list.items?.filter(({ waiting }) => waiting > 0) ?? []
  if (underWay.length === 0) return null
  return (
    <Panel title="Under way" lead="Replays of which something has not begun yet.">
      <ul aria-label="Replays under way" className="divide-y divide-line">
        {underWay.map((replay) => (
          <li key={replay.id} className="flex flex-wrap items-center justify-between gap-3 px-4 py-2.5">
            <div className="min-w-0">
              <p className="font-medium">
                {replay.waiting.toLocaleString('en')} of {replay.replayed.toLocaleString('en')}{' '}
                {replay.waiting === 1 ? 'has' : 'have'} not begun
              </p>
              <p className="text-xs/5 text-soft">
                by {replay.by_name}, <Moment at={replay.at} />
                {replay.rate_per_second > 0 && `, ${replay.rate_per_second} per second`}
                {replay.last_at && (
                  <>
                    , <Countdown until={replay.last_at} before="the last in " over="all may begin now" />
                  </>
                )}
              </p>
            </div>
            <Button icon={OctagonX} needs="jobs.manage" onClick={() => setStopping(replay)}>
              Stop
            </Button>
          </li>
        ))}
      </ul>
      {stopping && <StopDialog replay={stopping} onClose={() => setStopping(null)} />}
    </Panel>
  )
}

function StopDialog({ replay, onClose }: { replay: Replay; onClose: () => void }) {
  const stopping = useStop(replay.id)
  return (
    <Confirm
      title="Stop the replay"
      label="Stop it"
      needs="jobs.manage"
      change={stopping}
      onConfirm={() => stopping.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
      isHard
    >
      <p>
        What no worker has begun is put back: tasks are dead letters again, and jobs that were only sent again
        are cancelled. What a worker has goes on.
      </p>
    </Confirm>
  )
}
