// What stands where there is nothing else to show, or something to mind: empty, failed, refused, warned.
import { RotateCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Problem, sentence } from '@/api/problems'
import { Button } from './Button'

type EmptyProps = { title: string; children: ReactNode; action?: ReactNode }

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-14 text-center">
      <h2 className="text-base font-semibold">{title}</h2>
      <div className="max-w-prose text-soft">{children}</div>
      {action && <div className="mt-3">{action}</div>}
    </div>
  )
}

type FailureProps = {
  what: string
  error: unknown
  onRetry?: () => void
  isRetrying?: boolean
  isOld?: boolean
}

/** Says what failed and offers to try again; with `isOld` it stands above data that was loaded before. */
export function Failure({ what, error, onRetry, isRetrying, isOld }: FailureProps) {
  const request = error instanceof Problem ? error.document.request_id : null
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-bad/30 bg-bad-wash px-4 py-3"
    >
      <TriangleAlert aria-hidden size={16} className="shrink-0 text-bad" />
      <div className="min-w-0 flex-1 basis-52">
        <p className="font-medium text-bad">
          {what} {isOld && 'What you see was loaded before.'}
        </p>
        <p>{sentence(error)}</p>
        {request && <p className="font-mono text-2xs break-all text-soft">request {request}</p>}
      </div>
      {onRetry && (
        <Button icon={RotateCw} onClick={onRetry} isBusy={isRetrying}>
          Retry
        </Button>
      )}
    </div>
  )
}

/** A refusal inside a dialog: nothing to retry but the form itself. */
export function Refused({ children }: { children: ReactNode }) {
  if (!children) return null
  return (
    <p role="alert" className="rounded-md border border-bad/30 bg-bad-wash px-3 py-2 text-bad">
      {children}
    </p>
  )
}

/** Something to know before one goes on. */
export function Warning({ children }: { children: ReactNode }) {
  return (
    <p className="flex gap-2 rounded-md border border-warn/30 bg-warn-wash px-3 py-2 text-warn">
      <TriangleAlert aria-hidden size={15} className="mt-0.5 shrink-0" />
      <span>{children}</span>
    </p>
  )
}
