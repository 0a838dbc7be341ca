// What came from a source and could not be read: why not, and what it was.
import { Letter } from '@/entities/LettersDialog'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Failure } from '@/kit/states'
import { useLetters } from './api'

export function LettersDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const list = useLetters(name)
  return (
    <Dialog
      title={`Dead letters of ${name}`}
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
      <p className="text-soft">
        They are read again with the next full sweep, once the source has put them right. The latest first.
      </p>
      {list.error !== null && (
        <Failure what="They could not be loaded." error={list.error} onRetry={list.retry} />
      )}
      <ul aria-label="Dead letters" className="flex flex-col gap-2">
        {list.items?.map(({ payload, ...letter }) => (
          <li key={letter.id}>
            <Letter {...letter} content={payload} />
          </li>
        ))}
      </ul>
      {list.items?.length === 0 && (
        <p>There are none: what went wrong were requests, which were tried again.</p>
      )}
    </Dialog>
  )
}
