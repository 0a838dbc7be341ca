// Where jobs are searched by words, and the words that are in force and have no field of their own.
import { X } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { SuggestField } from '@/kit/SuggestField'
import { type Filters, readWords } from './filters'
import { pathOf } from './signs'
import type { Job } from './types'
import { useWords } from './words'

export function WordsField({ filters, jobs }: { filters: Filters; jobs: Job[] | undefined }) {
  const [typed, setTyped] = useState('')
  const [unread, setUnread] = useState<string[]>([])
  const [isUsed, setIsUsed] = useState(false)
  const words = useWords(jobs, isUsed)
  const navigate = useNavigate()

  function read(text: string) {
    const { said, rest, unread } = readWords(text)
    setUnread(unread)
    if (unread.length > 0) return
    filters.apply(said)
    setTyped('')
    if (rest) navigate(pathOf(rest))
  }

  return (
    <>
      <SuggestField
        label="Search jobs"
        placeholder="A job’s id, or status:failed age:>1h"
        value={typed}
        onChange={(text) => {
          setTyped(text)
          setUnread([])
        }}
        onEnter={read}
        keys={words}
        onFocus={() => setIsUsed(true)}
      />
      {unread.length > 0 && (
        <p role="alert" className="text-xs text-bad">
          {unread.join(' ')} says nothing here.
        </p>
      )}
    </>
  )
}

export function Word({ text, onDrop }: { text: string; onDrop: () => void }) {
  return (
    <span className="inline-flex h-7 max-w-full items-center gap-1 rounded-full bg-accent-wash pr-1 pl-2.5 font-mono text-xs text-accent-strong">
      <span className="truncate">{text}</span>
      <button
        type="button"
        aria-label={`Drop ${text}`}
        onClick={onDrop}
        className="inline-flex size-5 shrink-0 items-center justify-center rounded-full hover:bg-hover"
      >
        <X aria-hidden size={12} />
      </button>
    </span>
  )
}
