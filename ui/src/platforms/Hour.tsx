// The attempts of the last hour, a bar for each five minutes: what failed stands on what went well.
import type { Strip } from '@/overview/api'

const STEPS = 12

export function Hour({ strip }: { strip: Strip }) {
  const steps = strip.succeeded.map((succeeded, at) => {
    const failed = strip.failed[at] ?? 0
    return { minutes: 5 * (STEPS - at), succeeded, failed, all: succeeded + failed }
  })
  const most = Math.max(1, ...steps.map(({ all }) => all))
  const total = steps.reduce((sum, { all }) => sum + all, 0)
  const failed = steps.reduce((sum, step) => sum + step.failed, 0)
  const words = `${total.toLocaleString('en')} attempts in the last hour, ${failed.toLocaleString('en')} failed; ${most.toLocaleString('en')} at the most in five minutes.`
  return (
    <div role="img" aria-label={words} title={words} className="flex h-6 w-24 items-end gap-px">
      {steps.map((step) => (
        <span key={step.minutes} className="flex h-full flex-1 flex-col justify-end bg-hover/60">
          <span className="bg-bad" style={{ height: `${(100 * step.failed) / most}%` }} />
          <span className="bg-accent" style={{ height: `${(100 * step.succeeded) / most}%` }} />
        </span>
      ))}
    </div>
  )
}
