// Says that a platform's limits are not those of its file: what counts now, until when, who wanted it so and why.
import { SlidersHorizontal, Undo2 } from 'lucide-react'
import { sentence } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Explanation } from '@/kit/Explanation'
import { exactly, Moment } from '@/kit/Moment'
import { useRestoreLimits } from './api'
import { overrideText } from './signs'
import type { OnePlatform, Override } from './types'

export function LimitsChanged({ platform, override }: { platform: OnePlatform; override: Override }) {
  const restoring = useRestoreLimits(platform.platform)
  const { by, reason, since, until } = override
  return (
    <Explanation
      icon={SlidersHorizontal}
      tone="accent"
      also={
        <>
          {[`By ${by ?? 'an operator of another organisation'}`, reason].filter(Boolean).join(': ')}. Since{' '}
          <Moment at={since} />
          {until === null && ', until somebody takes it back'}.
          {restoring.error && (
            <span role="alert" className="block text-bad">
              {sentence(restoring.error)}
            </span>
          )}
        </>
      }
      action={
        <Button
          icon={Undo2}
          needs="jobs.manage"
          objection={platform.may_change_limits ? null : 'Another organisation sees to these.'}
          isBusy={restoring.isPending}
          onClick={() => restoring.mutate(undefined)}
        >
          Back to the file
        </Button>
      }
    >
      Its {overrideText(override)}
      {until && ` until ${exactly(until)}`}.
    </Explanation>
  )
}
