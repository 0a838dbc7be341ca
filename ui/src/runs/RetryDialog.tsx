// Tries once more what failed of a run: all of it, or what failed alike.
import { worded } from '@/jobs/states'
import { Confirm } from '@/kit/Confirm'
import { useRetry } from './api'
import { isOver } from './states'
import type { Run } from './types'

type Props = { run: Run; items: number; code: string | null; onClose: () => void }

export function RetryDialog({ run, items, code, onClose }: Props) {
  const change = useRetry(run.id)
  const many = `${items.toLocaleString('en')} ${items === 1 ? 'item' : 'items'}`
  return (
    <Confirm
      title="Retry what failed"
      label={`Retry ${many}`}
      needs="runs.manage"
      change={change}
      onConfirm={() => change.mutate(code, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="font-medium">{run.name}</p>
      <p>
        {many}
        {code !== null && (
          <>
            {' that failed with '}
            <span className="font-medium">{worded(code)}</span>
          </>
        )}{' '}
        {items === 1 ? 'is' : 'are'} tried once more and paid for as before, within the cap.
      </p>
      {isOver(run) && <p className="text-soft">The run goes on for that, or waits until a slot is free.</p>}
    </Confirm>
  )
}
