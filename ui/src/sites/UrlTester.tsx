// Paste URLs and see what becomes of them: today, in the page of a site, or after a move, in its preview.
import { useState } from 'react'
import type { Rewritten, Site } from '@/api/types'
import { Badge } from '@/kit/Badge'
import { TextArea } from '@/kit/Field'
import { Panel } from '@/kit/Panel'
import { Failure } from '@/kit/states'
import { useSettled } from '@/kit/useSettled'
import { useRewritten } from './api'
import { read } from './verdicts'

// As many as the preview of a move takes, and enough to see what happens.
const MOST = 100

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean)
}

/** A text of URLs, one per line, and those of them to ask the server about. */
export function useUrls(initially = '') {
  const [text, setText] = useState(initially)
  const urls = linesOf(useSettled(text)).slice(0, MOST)
  return { text, setText, urls, isCut: linesOf(text).length > MOST }
}

type Props = {
  label: string
  hint?: string
  placeholder?: string
  input: ReturnType<typeof useUrls>
  answer: { data?: Rewritten[]; error: unknown; refetch: () => void; isFetching: boolean }
}

export function UrlTester({ label, hint, placeholder, input, answer }: Props) {
  const { data, error, refetch, isFetching } = answer
  return (
    <div className="flex flex-col gap-3">
      <TextArea
        label={label}
        value={input.text}
        onChange={input.setText}
        placeholder={placeholder}
        hint={input.isCut ? `Only the first ${MOST} are tried.` : hint}
      />
      {error !== null && (
        <Failure
          what="The URLs could not be tried."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      )}
      <div aria-live="polite" aria-busy={isFetching}>
        {data && (
          <ul aria-label="Results" className="divide-y divide-line rounded-md border border-line">
            {data.map((found, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same URL may be pasted twice
              <Result key={index} found={found} />
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

function Result({ found }: { found: Rewritten }) {
  const { word, tone, means } = read(found)
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 gap-y-0.5 px-3 py-2 sm:grid-cols-[6rem_minmax(0,1fr)_auto]">
      <span>
        <Badge tone={tone}>{word}</Badge>
      </span>
      <span className="max-w-40 truncate text-right text-xs/5 text-soft sm:order-last">{found.site}</span>
      <div className="col-span-2 min-w-0 sm:col-span-1">
        <p className="font-mono text-xs/5 break-all">{found.url}</p>
        <p className={`text-xs text-soft ${found.changed ? 'font-mono break-all' : ''}`}>
          {found.changed ? `from ${found.input}` : means}
        </p>
      </div>
    </li>
  )
}

export function UrlTesterPanel({ site }: { site: Site }) {
  const input = useUrls()
  const answer = useRewritten(input.urls, site.epoch)
  return (
    <Panel
      title="URL tester"
      lead="How a URL is written today, whichever of the addresses it was written at."
    >
      <div className="p-4">
        <UrlTester
          label="URLs, one per line"
          placeholder={`https://${site.current_domain}/some/page`}
          input={input}
          answer={answer}
        />
      </div>
    </Panel>
  )
}
