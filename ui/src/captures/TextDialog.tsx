// What a file says, as plain text: whatever is in it, nothing of it is run, drawn or followed.
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { sized } from '@/kit/sizes'
import { Failure } from '@/kit/states'
import { useText } from './api'
import type { CaptureFile } from './types'

const MOST_SHOWN = 64 * 1024
// It is fetched whole.
const MOST_FETCHED = 8 * 1024 * 1024
const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson|[\w.-]+\+(json|xml))\b)/

export function isText({ content_type, size }: CaptureFile): boolean {
  return TEXT.test(content_type) && size > 0 && size <= MOST_FETCHED
}

type Props = { capture: string; file: CaptureFile; onClose: () => void }

export function TextDialog({ capture, file, onClose }: Props) {
  const { data, error, refetch, isFetching } = useText(capture, file.name, MOST_SHOWN)
  return (
    <Dialog
      title={`Text of ${file.name}`}
      onClose={onClose}
      isWide
      footer={<Button onClick={onClose}>Close</Button>}
    >
      {error && (
        <Failure what="It could not be fetched." error={error} onRetry={refetch} isRetrying={isFetching} />
      )}
      {!data && !error && (
        <div role="status" aria-busy="true" aria-label="Fetching the text" className="skeleton h-40" />
      )}
      {data && (
        <>
          <p className="text-xs/5 text-soft">
            {data.isWhole
              ? `All of it, ${sized(file.size)}.`
              : `The first ${sized(MOST_SHOWN)} of ${sized(file.size)}.`}
          </p>
          <section
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must by keyboard, too
            tabIndex={0}
            aria-label="The text"
            className="max-h-[60vh] overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-xs/5 whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {data.text}
          </section>
        </>
      )}
    </Dialog>
  )
}
