// A few choices side by side, one of them pressed.
type Props = {
  label: string
  value: string
  options: Record<string, string>
  /** Their order, where the keys are numbers and would sort themselves. */
  order?: readonly string[]
  onChange: (value: string) => void
}

export function Segments({ label, value, options, order = Object.keys(options), onChange }: Props) {
  return (
    <fieldset className="flex shrink-0 rounded-md border border-line bg-panel p-0.5">
      <legend className="sr-only">{label}</legend>
      {order.map((key) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === value}
          onClick={() => onChange(key)}
          className="h-6.5 rounded px-2.5 text-xs font-medium whitespace-nowrap text-soft hover:text-ink aria-pressed:bg-accent-wash aria-pressed:text-accent-strong"
        >
          {options[key]}
        </button>
      ))}
    </fieldset>
  )
}
