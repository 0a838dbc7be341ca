// The navigation in narrow windows: slides over the page, and goes when one has chosen.
import { useLayoutEffect, useRef } from 'react'
import { Navigation } from './Navigation'

type Props = { onClose: () => void; onPalette: () => void }

export function Drawer({ onClose, onPalette }: Props) {
  const drawer = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = drawer.current
    const opener = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is for the backdrop; Esc does the same
    <dialog
      ref={drawer}
      aria-label="Navigation"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === drawer.current && onClose()}
      className="m-0 h-dvh max-h-none w-64 border-r border-line bg-panel text-ink shadow-float"
    >
      <Navigation onNavigate={onClose} onPalette={onPalette} />
    </dialog>
  )
}
