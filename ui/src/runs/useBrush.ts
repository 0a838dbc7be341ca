// Drawing over a stretch of time with the mouse, to look at it alone.
import { type MouseEvent, type PointerEvent, useRef, useState } from 'react'

// Less is a click with an unsteady hand.
const LEAST_PX = 6

type Stretch = { left: number; width: number }

/** `area` is as wide as the time it shows; what is drawn over is told in shares of it. */
export function useBrush(onDrawn: (from: number, to: number) => void) {
  const area = useRef<HTMLDivElement>(null)
  const begun = useRef<number | null>(null)
  const wasDrawn = useRef(false)
  const [stretch, setStretch] = useState<Stretch | null>(null)

  const shareAt = (x: number) => {
    const { left, width } = area.current?.getBoundingClientRect() ?? { left: 0, width: 1 }
    return Math.min(1, Math.max(0, (x - left) / width))
  }
  const widthPx = () => area.current?.clientWidth ?? 0
  const end = () => {
    begun.current = null
    setStretch(null)
  }

  const handlers = {
    onPointerDown(event: PointerEvent) {
      const isInside = event.clientX >= (area.current?.getBoundingClientRect().left ?? 0)
      wasDrawn.current = false
      // A finger scrolls the page.
      if (event.pointerType !== 'touch' && event.button === 0 && isInside)
        begun.current = shareAt(event.clientX)
    },
    onPointerMove(event: PointerEvent) {
      if (begun.current === null) return
      const [from, to] = [begun.current, shareAt(event.clientX)].sort((a, b) => a - b) as [number, number]
      if (!stretch && (to - from) * widthPx() < LEAST_PX) return
      if (!stretch) event.currentTarget.setPointerCapture(event.pointerId)
      setStretch({ left: from * 100, width: (to - from) * 100 })
    },
    onPointerUp() {
      if (stretch && (stretch.width / 100) * widthPx() >= LEAST_PX) {
        wasDrawn.current = true
        onDrawn(stretch.left / 100, (stretch.left + stretch.width) / 100)
      }
      end()
    },
    onPointerCancel: end,
    // What lies under it is no link for a mouse that draws, and cannot be carried away.
    onClickCapture(event: MouseEvent) {
      if (wasDrawn.current) event.preventDefault()
      if (wasDrawn.current) event.stopPropagation()
      wasDrawn.current = false
    },
    onDragStart(event: MouseEvent) {
      event.preventDefault()
    },
  }
  return { area, stretch, handlers }
}
