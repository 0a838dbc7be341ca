// The mark of the product: a keyhole.
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 32 32">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M16 7.5a5.2 5.2 0 0 1 2.6 9.7l1.5 7.3h-8.2l1.5-7.3A5.2 5.2 0 0 1 16 7.5Z"
        className="fill-on-accent"
      />
    </svg>
  )
}
