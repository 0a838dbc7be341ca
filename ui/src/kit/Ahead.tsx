// What stands ahead of something that is loaded as a whole: that it is not for this token, that it failed, or that it comes.
import { Panel } from './Panel'
import { Empty, Failure } from './states'

type Props = {
  /** Of what, in the plural. */
  of: string
  /** Why this token may not see it. */
  objection?: string | null
  error: unknown
  isThere: boolean
  isFetching: boolean
  onRetry: () => void
  /** How high the place is kept that it will take. */
  height: 'h-24' | 'h-28' | 'h-36' | 'h-48' | 'h-64' | 'h-96'
  /** In a panel, which has no edges of its own inside. */
  isInPanel?: boolean
}

export function Ahead({ of, objection, error, isThere, isFetching, onRetry, height, isInPanel }: Props) {
  if (objection) {
    return (
      <Panel>
        <Empty title="Not for this token">{objection}</Empty>
      </Panel>
    )
  }
  if (error) {
    const failure = (
      <Failure
        what={`The ${of} could not be ${isThere ? 'refreshed' : 'loaded'}.`}
        error={error}
        onRetry={onRetry}
        isRetrying={isFetching}
        isOld={isThere}
      />
    )
    return isInPanel ? <div className="p-4">{failure}</div> : failure
  }
  return isThere ? null : (
    <div
      role="status"
      aria-busy="true"
      aria-label={`Loading the ${of}`}
      className={`skeleton ${height} ${isInPanel ? 'm-4' : ''}`}
    />
  )
}
