// Why anybody gets anything of this site or not, in the server's own sentence.
import { CircleAlert, CircleCheck, CirclePause } from 'lucide-react'
import { Moment } from '@/kit/Moment'
import { Failure } from '@/kit/states'
import { useExplanation } from './api'

export function ExplanationPanel({ slug }: { slug: string }) {
  const { data, error, refetch, isFetching } = useExplanation(slug)
  if (!data) {
    return error ? (
      <Failure
        what="The explanation could not be loaded."
        error={error}
        onRetry={refetch}
        isRetrying={isFetching}
      />
    ) : (
      <div className="skeleton h-14" />
    )
  }
  const { using = 0, active = 0 } = data.counts
  const isFree = active > 0 && (data.cap === null || using < data.cap)
  const Icon = data.paused ? CirclePause : isFree ? CircleCheck : CircleAlert
  return (
    <section
      aria-label="Explanation"
      className={`flex gap-3 rounded-lg border px-4 py-3 ${data.paused ? 'border-warn/30 bg-warn-wash' : 'border-line bg-panel shadow-raised'}`}
    >
      <Icon
        aria-hidden
        size={18}
        className={`mt-0.5 shrink-0 ${!data.paused && isFree ? 'text-good' : 'text-warn'}`}
      />
      <div className="min-w-0">
        <p aria-live="polite" className="text-base font-medium break-words">
          {data.sentence}
        </p>
        {data.paused_at && (
          <p className="mt-0.5 text-xs text-soft">
            Paused <Moment at={data.paused_at} />
          </p>
        )}
      </div>
    </section>
  )
}
