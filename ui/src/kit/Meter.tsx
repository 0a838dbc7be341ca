// How much of a limit is used, in numbers and as a bar.
type Props = { label: string; value: number; limit: number }

export function Meter({ label, value, limit }: Props) {
  const percent = Math.min(100, Math.round((100 * value) / limit))
  return (
    <div className="inline-flex w-28 max-w-full flex-col gap-1">
      <span className="whitespace-nowrap">
        {value.toLocaleString('en')} <span className="text-soft">of {limit.toLocaleString('en')}</span>
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> each in their own way */}
      <div
        role="meter"
        aria-label={label}
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuetext={`${value} of ${limit}`}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div
          className={`h-full ${percent >= 100 ? 'bg-warn' : 'bg-accent'}`}
          style={{ width: `${percent}%` }}
        />
      </div>
    </div>
  )
}
