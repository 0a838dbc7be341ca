// Many seeds at once: choose a file or paste, say what it is, send it, and see which lines were refused and why.
import { FileText } from 'lucide-react'
import { useState } from 'react'
import { useSlugs } from '@/accounts/api'
import { faultAt, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { DropZone } from '@/kit/DropZone'
import { Select, TextArea } from '@/kit/Field'
import { ImportedDialog } from '@/kit/ImportResult'
import { sized } from '@/kit/sizes'
import { Refused } from '@/kit/states'
import { useImportSeeds } from './api'
import { type Content, FORMATS, type Format, fileOf, formatOf, headOf } from './importing'

const LABELS = Object.fromEntries(
  Object.entries(FORMATS).map(([format, { label }]) => [format, label]),
) as Record<Format, string>

type Chosen = { name: string; bytes: Uint8Array<ArrayBuffer> }

export function ImportSeedsDialog({ site, onClose }: { site: string; onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [text, setText] = useState('')
  const [picked, setPicked] = useState<Format | null>(null)
  const [slug, setSlug] = useState(site)
  const sending = useImportSeeds()
  const { error } = sending
  const content: Content = chosen?.bytes ?? text
  const head = headOf(content)
  const format = picked ?? formatOf(head)
  const objection = head.trim() ? null : 'Choose a file or paste something first.'

  /** Another text may be of another kind, and what was said about the last one is over. */
  function start(file: Chosen | null, typed: string) {
    setChosen(file)
    setText(typed)
    if (file || !typed.trim()) setPicked(null)
    sending.reset()
  }

  if (sending.data) {
    return (
      <ImportedDialog
        title="Seeds imported"
        imported={sending.data}
        unit={FORMATS[format].unit}
        onAgain={() => start(null, '')}
        onClose={onClose}
      />
    )
  }

  return (
    <Dialog
      title="Import seeds"
      onClose={onClose}
      onSubmit={() => !objection && sending.mutate(fileOf(content, format, slug))}
      isWide
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="seeds.manage"
            isBusy={sending.isPending}
            objection={objection}
          >
            {sending.isPending ? 'Importing…' : 'Import'}
          </Button>
        </>
      }
    >
      <Refused>{faultAt(error, '') ?? remainder(error, [])}</Refused>
      {chosen ? (
        <ChosenFile file={chosen} head={head} onRemove={() => start(null, '')} />
      ) : (
        <>
          <DropZone
            label="File of seeds"
            hint="CSV, NDJSON, JSON or OPML, up to 50 000 seeds"
            accept=".csv,.ndjson,.jsonl,.json,.opml,.xml,.txt,text/csv,application/json,application/x-ndjson,text/x-opml"
            onFile={(name, bytes) => start({ name, bytes }, '')}
          />
          <TextArea
            label="Or paste it here"
            value={text}
            onChange={(typed) => start(null, typed)}
            placeholder={'site,url,interval_seconds,label.region\nboard,https://board.example/new,3600,eu'}
          />
        </>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Format"
          value={format}
          onChange={setPicked}
          options={LABELS}
          hint={FORMATS[format].hint}
        />
        <OtherwiseSite value={slug} onChange={setSlug} />
      </div>
      <p className="text-xs text-soft">
        An address that is there already gets what its line says and keeps its schedule. Bad lines are
        reported and cost the good ones nothing.
      </p>
    </Dialog>
  )
}

type FileProps = { file: Chosen; head: string; onRemove: () => void }

function ChosenFile({ file, head, onRemove }: FileProps) {
  const first = head.trim().split('\n').slice(0, 4)
  return (
    <div className="rounded-md border border-line">
      <div className="flex items-center gap-2 py-1 pr-1 pl-3">
        <FileText aria-hidden size={16} className="shrink-0 text-soft" />
        <p role="status" className="min-w-0 flex-1">
          <span className="font-medium">{file.name}</span>{' '}
          <span className="text-soft">{sized(file.bytes.length)}</span>
        </p>
        <Button look="quiet" onClick={onRemove}>
          Choose another
        </Button>
      </div>
      {first.join('') && (
        <pre className="overflow-hidden border-t border-line bg-sunken px-3 py-2 font-mono text-xs/5 text-ellipsis whitespace-pre text-soft">
          {first.map((line) => line.slice(0, 200)).join('\n')}
        </pre>
      )}
    </div>
  )
}

type SiteProps = { value: string; onChange: (slug: string) => void }

/** Whose the lines are that do not say. */
function OtherwiseSite({ value, onChange }: SiteProps) {
  const { data } = useSlugs()
  const slugs = [...new Set([...(data?.slugs ?? []), ...(value ? [value] : [])])].sort()
  const options = { '': 'The one at its address', ...Object.fromEntries(slugs.map((slug) => [slug, slug])) }
  return (
    <Select
      label="Site of lines that name none"
      value={value}
      onChange={onChange}
      options={options as Record<string, string>}
    />
  )
}
