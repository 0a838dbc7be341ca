// Many accounts at once: choose a file or paste, look at what was understood, and only then send it.
import { useState } from 'react'
import { remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { DropZone } from '@/kit/DropZone'
import { TextArea } from '@/kit/Field'
import { ImportedDialog } from '@/kit/ImportResult'
import { Refused } from '@/kit/states'
import { useImport, useSlugs } from './api'
import { ImportPreview } from './ImportPreview'
import { type ImportFile, readImport, withSites } from './importing'

type Chosen = { name: string; file: ImportFile }

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const { data: sites } = useSlugs()
  const sending = useImport()

  function take(name: string, content: string) {
    setText('')
    setFault(null)
    setChosen({ name, file: readImport(content) })
  }

  function open(name: string, bytes: Uint8Array) {
    const content = textOf(bytes)
    if (content === null) setFault(`${name} could not be read as text in UTF-8.`)
    else take(name, content)
  }

  function goBack() {
    setChosen(null)
    sending.reset()
  }

  if (sending.data) {
    return (
      <ImportedDialog title="Accounts imported" imported={sending.data} onAgain={goBack} onClose={onClose} />
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
      <DropZone
        label="File of accounts"
        hint="CSV, NDJSON or JSON, up to 50 000 accounts"
        accept=".csv,.ndjson,.jsonl,.json,.txt,text/csv,application/json,application/x-ndjson"
        onFile={open}
      />
      <Refused>{fault}</Refused>
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

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
