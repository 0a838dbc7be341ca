// A modal dialog on the browser's own element, which makes the rest inert, keeps the focus inside and closes on Esc.
import { X } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { IconButton } from './Button'

type Props = {
  title: string
  onClose: () => void
  children: ReactNode
  /** Buttons at the bottom; with `onSubmit` one of them may be type=submit. */
  footer: ReactNode
  onSubmit?: () => void
  isWide?: boolean
}

export function Dialog({ title, onClose, children, footer, onSubmit, isWide }: Props) {
  const heading = useId()
  const dialog = useRef<HTMLDialogElement>(null)

  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    element?.querySelector<HTMLElement>('[data-first]')?.focus()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])

  function submit(event: FormEvent) {
    event.preventDefault()
    onSubmit?.()
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      className={`m-auto max-h-[calc(100dvh-1rem)] w-[calc(100vw-1rem)] overflow-hidden rounded-xl border border-line bg-panel text-ink shadow-float ${isWide ? 'max-w-3xl' : 'max-w-lg'}`}
    >
      <form noValidate onSubmit={submit} className="flex max-h-[calc(100dvh-1rem-2px)] flex-col">
        <header className="flex items-center justify-between gap-4 border-b border-line py-2.5 pr-2.5 pl-5">
          <h2 id={heading} className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          <IconButton icon={X} label="Close" onClick={onClose} />
        </header>
        <div className="flex flex-col gap-4 overflow-y-auto px-5 py-4 [overflow-wrap:anywhere]">
          {children}
        </div>
        <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line bg-sunken px-5 py-3">
          {footer}
        </footer>
      </form>
    </dialog>
  )
}
