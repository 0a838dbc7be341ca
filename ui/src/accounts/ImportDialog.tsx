// Many accounts at once: choose a file or paste, look at what was understood, and only then send it.
import { FileUp } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextArea } from '@/kit/Field'
import { Refused } from '@/kit/states'
import { useImport, useSlugs } from './api'
import { ImportPreview, ImportResult } from './ImportPreview'
import { type ImportFile, readImport, withSites } from './importing'

type Chosen = { name: string; file: ImportFile }

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [text, setText] = useState('')
  const { data: sites } = useSlugs()
  const sending = useImport()

  function take(name: string, content: string) {
    setText('')
    setChosen({ name, file: readImport(content) })
  }

  function goBack() {
    setChosen(null)
    sending.reset()
  }

  if (sending.data) {
    return (
      <Dialog
        title="Accounts imported"
        onClose={onClose}
        footer={
          <>
            {sending.data.rejected.length > 0 && <Button onClick={goBack}>Import another</Button>}
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <ImportResult imported={sending.data} />
      </Dialog>
    )
  }

  if (chosen) {
    const file = withSites(chosen.file, sites?.isWhole ? sites.slugs : null)
    const good = file.lines.filter((line) => line.fault === null).length
    return (
      <Dialog
        title="Import accounts"
        onClose={onClose}
        onSubmit={() => file.lines.length > 0 && sending.mutate(file)}
        isWide
        footer={
          <>
            <Button onClick={goBack}>Back</Button>
            <Button
              type="submit"
              look="primary"
              needs="accounts.manage"
              isBusy={sending.isPending}
              objection={file.lines.length > 0 ? null : 'There is nothing in it.'}
            >
              {sending.isPending ? 'Importing…' : `Import ${good === 1 ? 'one account' : `${good} accounts`}`}
            </Button>
          </>
        }
      >
        <Refused>{remainder(sending.error, [])}</Refused>
        <ImportPreview name={chosen.name} file={file} />
      </Dialog>
    )
  }

  return (
    <Dialog
      title="Import accounts"
      onClose={onClose}
      onSubmit={() => text.trim() && take('What you pasted', text)}
      isWide
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            objection={text.trim() ? null : 'Choose a file or paste something first.'}
          >
            Preview
          </Button>
        </>
      }
    >
      <DropZone onFile={take} />
      <TextArea
        label="Or paste it here"
        value={text}
        onChange={setText}
        // What is pasted goes straight to the preview, where secrets are masked.
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (text.trim() || !pasted.trim()) return
          event.preventDefault()
          take('What you pasted', pasted)
        }}
        placeholder={'site,username,password,label.region\nboard,collector-07,…,eu'}
        hint="CSV with a first line that names the columns, one JSON object per line, or JSON with a list. In CSV, site, username, priority and label.… are the account’s own; every other column is a part of its secret."
      />
    </Dialog>
  )
}

function DropZone({ onFile }: { onFile: (name: string, content: string) => void }) {
  const [isOver, setIsOver] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  async function open(file: File | undefined) {
    if (!file) return
    try {
      onFile(file.name, new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()))
    } catch {
      setFault(`${file.name} could not be read as text in UTF-8.`)
    }
  }

  function over(event: DragEvent) {
    event.preventDefault()
    setIsOver(event.type === 'dragover')
  }

  return (
    <>
      <label
        onDragOver={over}
        onDragLeave={over}
        onDrop={(event) => {
          over(event)
          open(event.dataTransfer.files[0])
        }}
        className={`flex cursor-pointer flex-col items-center gap-1 rounded-lg border-2 border-dashed px-4 py-8 text-center has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${isOver ? 'border-accent bg-accent-wash' : 'border-line bg-sunken hover:border-edge'}`}
      >
        <FileUp aria-hidden size={22} className="text-soft" />
        <span className="font-medium">Drop a file here, or choose one</span>
        <span className="text-xs text-soft">CSV, NDJSON or JSON, up to 50 000 accounts</span>
        <input
          type="file"
          data-first
          aria-label="File of accounts"
          accept=".csv,.ndjson,.jsonl,.json,.txt,text/csv,application/json,application/x-ndjson"
          onChange={(event) => open(event.target.files?.[0])}
          className="sr-only"
        />
      </label>
      <Refused>{fault}</Refused>
    </>
  )
}
