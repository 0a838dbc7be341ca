// Puts a capture back among those that wait, or removes it; both after asking once.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { TextField } from '@/kit/Field'
import { sized } from '@/kit/sizes'
import type { Act } from './actions'
import { useDeleteCapture, useRequeue } from './api'
import type { Capture } from './types'

type Props = { capture: Capture; onClose: () => void }

export function CaptureDialog({ act, onDeleted, ...props }: Props & { act: Act; onDeleted?: () => void }) {
  if (act === 'requeue') return <RequeueDialog {...props} />
  return <DeleteDialog {...props} onDone={onDeleted ?? props.onClose} />
}

function RequeueDialog({ capture, onClose }: Props) {
  const change = useRequeue(capture.id)
  const [reason, setReason] = useState('')
  return (
    <Confirm
      title="Requeue the capture"
      label="Requeue"
      needs="captures.consume"
      change={change}
      onConfirm={() => change.mutate(reason.trim(), { onSuccess: onClose })}
      onClose={onClose}
      pointers={['/reason']}
    >
      <Address capture={capture} />
      <p>It waits for a consumer again, and may fail as often as a new one before it is stuck.</p>
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        placeholder="the parser was mended"
        hint="Kept in the audit of its life."
        fault={faultAt(change.error, '/reason')}
        isFirst
      />
    </Confirm>
  )
}

function DeleteDialog({ capture, onClose, onDone }: Props & { onDone: () => void }) {
  const deletion = useDeleteCapture(capture.id)
  const { files, size, state } = capture
  return (
    <Confirm
      title="Delete the capture"
      label="Delete"
      needs="captures.consume"
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, { onSuccess: onDone })}
      onClose={onClose}
      isHard
    >
      <Address capture={capture} />
      <p>
        Its {files.length === 1 ? 'file' : `${files.length} files`} ({sized(size)}) are removed unless another
        capture has the same bytes, and that cannot be undone. What happened to it stays in the audit.
        {state === 'received' && ' No consumer has had it yet.'}
      </p>
    </Confirm>
  )
}

function Address({ capture }: { capture: Capture }) {
  return (
    <p>
      <span className="font-medium [overflow-wrap:anywhere]">{capture.url}</span>{' '}
      <span className="text-soft">at {capture.site}</span>
    </p>
  )
}
