// A short explanation that appears on hover and focus, above everything that might clip it.
import { type ReactNode, useId, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

type Props = { text: ReactNode; children: ReactNode; className?: string }
type Place = { x: number; y: number; isBelow: boolean }

const EDGE_PX = 8
const WIDTH_PX = 288

export function Tip({ text, children, className = '' }: Props) {
  const id = useId()
  const anchor = useRef<HTMLSpanElement>(null)
  const [place, setPlace] = useState<Place | null>(null)

  function show() {
    const box = anchor.current?.getBoundingClientRect()
    if (!box) return
    // On what has the focus, since nobody is read the description of a span.
    anchor.current?.firstElementChild?.setAttribute('aria-describedby', id)
    const reach = WIDTH_PX / 2 + EDGE_PX
    const middle = box.left + box.width / 2
    const x = Math.min(Math.max(middle, reach), Math.max(window.innerWidth - reach, reach))
    const isBelow = box.top < window.innerHeight / 2
    setPlace({ x, y: isBelow ? box.bottom + 6 : box.top - 6, isBelow })
  }

  // A modal dialog covers the rest of the page, so a tip inside one has to live inside it too.
  const home = anchor.current?.closest('dialog') ?? document.body
  const hide = () => setPlace(null)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens; what is inside takes the focus
    <span
      ref={anchor}
      className={`inline-flex ${className}`}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
    >
      {children}
      {place &&
        createPortal(
          <div
            id={id}
            role="tooltip"
            className="pointer-events-none fixed z-50 w-max max-w-72 rounded-md bg-ink px-2.5 py-1.5 text-left text-xs font-normal whitespace-normal text-page shadow-float"
            style={{
              left: place.x,
              top: place.y,
              transform: `translate(-50%, ${place.isBelow ? '0' : '-100%'})`,
            }}
          >
            {text}
          </div>,
          home,
        )}
    </span>
  )
}
