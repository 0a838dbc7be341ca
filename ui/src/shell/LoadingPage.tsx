// What stands where a page will be as soon as its code is here.
import { useEffect } from 'react'

export function LoadingPage() {
  useEffect(
    () => () => {
      // Who came here by the keyboard goes on from the page, which was not there yet.
      queueMicrotask(() => {
        if (document.activeElement !== document.body) return
        document.getElementById('main')?.focus({ preventScroll: true })
      })
    },
    [],
  )
  return (
    <main
      id="main"
      tabIndex={-1}
      aria-busy="true"
      aria-label="Loading the page"
      className="mx-auto w-full max-w-7xl px-4 py-5 outline-none sm:px-6 lg:px-8 lg:py-7"
    >
      <div className="skeleton mb-5 h-8 w-48" />
      <div className="skeleton h-72" />
    </main>
  )
}
