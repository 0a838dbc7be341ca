// JSON as it is, to read and to copy.
type Props = { value: unknown; label: string; className?: string }

export function Json({ value, label, className = 'max-h-96' }: Props) {
  return (
    // A region that scrolls must be reachable without a mouse.
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
      tabIndex={0}
      className={`overflow-auto rounded-md border border-line bg-sunken ${className}`}
    >
      <pre className="px-3 py-2 font-mono text-xs/5 break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        {JSON.stringify(value, null, 2)}
      </pre>
    </section>
  )
}
