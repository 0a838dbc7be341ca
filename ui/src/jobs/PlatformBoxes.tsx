// Which platforms a job is for: one or several, each with a box to tick.
import { useId } from 'react'
import type { Platform } from '@/platforms/types'

type Props = {
  platforms: Platform[]
  chosen: string[]
  onChange: (chosen: string[]) => void
  fault?: string
}

export function PlatformBoxes({ platforms, chosen, onChange, fault }: Props) {
  const id = useId()
  function toggle(slug: string) {
    onChange(chosen.includes(slug) ? chosen.filter((one) => one !== slug) : [...chosen, slug])
  }
  return (
    <fieldset
      aria-describedby={fault ? `${id}-fault` : `${id}-hint`}
      aria-invalid={fault ? true : undefined}
      className="flex min-w-0 flex-col gap-1"
    >
      <legend className="mb-1 text-xs font-medium">Platforms</legend>
      <div
        className={`grid max-h-40 grid-cols-2 overflow-y-auto rounded-md border sm:grid-cols-3 ${fault ? 'border-bad' : 'border-line'}`}
      >
        {platforms.map(({ platform, title }) => (
          <label
            key={platform}
            className="flex cursor-pointer items-center gap-2 px-3 py-1.5 hover:bg-hover has-checked:bg-accent-wash"
          >
            <input
              type="checkbox"
              checked={chosen.includes(platform)}
              onChange={() => toggle(platform)}
              className="size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0 truncate" title={platform}>
              {title}
            </span>
          </label>
        ))}
      </div>
      {fault ? (
        <p id={`${id}-fault`} role="alert" className="text-xs text-bad">
          {fault}
        </p>
      ) : (
        <p id={`${id}-hint`} className="text-xs text-soft">
          With several, the job has a part for each.
        </p>
      )}
    </fieldset>
  )
}
