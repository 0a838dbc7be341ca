// What was handed over and could not be taken for a record: why not, and what it was.
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Disclosure } from '@/kit/Field'
import { Moment } from '@/kit/Moment'
import { Failure } from '@/kit/states'
import { useRecordLetters } from './api'

export function LettersDialog({ onClose }: { onClose: () => void }) {
  const list = useRecordLetters()
  return (
    <Dialog
      title="What could not be read"
      onClose={onClose}
      isWide
      footer={
        <>
          {list.hasMore && (
            <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
              Load more
            </Button>
          )}
          <Button onClick={onClose}>Done</Button>
        </>
      }
    >
      <p className="text-soft">Put right what is said of each, and hand it over again. The latest first.</p>
      {list.error !== null && (
        <Failure what="They could not be loaded." error={list.error} onRetry={list.retry} />
      )}
      <ul aria-label="Dead letters" className="flex flex-col gap-2">
        {list.items?.map((letter) => (
          <li key={letter.id}>
            <Letter {...letter} />
          </li>
        ))}
      </ul>
      {list.items?.length === 0 && <p>They are forgotten by now.</p>}
    </Dialog>
  )
}

type LetterProps = {
  source: string | null
  source_id: string | null
  reason: string
  content: string
  at: string
}

export function Letter({ source, source_id, reason, content, at }: LetterProps) {
  return (
    <div className="rounded-md border border-line px-3 py-2">
      <p className="font-medium">{reason}</p>
      <p className="mb-2 text-xs text-soft">
        {source ?? 'no source'} {source_id && <span className="font-mono">{source_id}</span>},{' '}
        <Moment at={at} />
      </p>
      <Disclosure summary="As it came">
        <pre className="max-h-48 overflow-auto font-mono text-xs/5 break-words whitespace-pre-wrap">
          {content}
        </pre>
      </Disclosure>
    </div>
  )
}
