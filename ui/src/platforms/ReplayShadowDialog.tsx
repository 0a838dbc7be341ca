// Has results that were there before the shadow was named written to it, too.
import { Button } from '@/kit/Button'
import { Confirm } from '@/kit/Confirm'
import { Dialog } from '@/kit/Dialog'
import { useReplayShadow } from './api'
import type { OnePlatform } from './types'

export function ReplayShadowDialog({ platform, onClose }: { platform: OnePlatform; onClose: () => void }) {
  const replay = useReplayShadow(platform.platform)
  const { target, shadow } = platform.policy.writer
  if (replay.data) {
    const { chunks } = replay.data
    return (
      <Dialog title="Shadow replay" onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
        <p role="status">
          {chunks.toLocaleString('en')} {chunks === 1 ? 'chunk is' : 'chunks are'} on the way to the shadow.
          Compare again in a while.
        </p>
      </Dialog>
    )
  }
  return (
    <Confirm
      title="Shadow replay"
      label="Replay into the shadow"
      needs="jobs.manage"
      change={replay}
      onConfirm={() => replay.mutate(null)}
      onClose={onClose}
    >
      <p>
        Everything that is in {target} is written to the shadow ({shadow}) once more, chunk by chunk. The
        target is only read.
      </p>
    </Confirm>
  )
}
