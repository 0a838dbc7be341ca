// The files of a capture, to be downloaded. They are others' content: on the UI's own origin their text is shown as text,
// and nothing of it ever as a page or a picture.
import { Download, TextSearch } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '@/api/problems'
import { Badge } from '@/kit/Badge'
import { Button } from '@/kit/Button'
import { Panel } from '@/kit/Panel'
import { sized } from '@/kit/sizes'
import { Refused } from '@/kit/states'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import { useDownload } from './api'
import { isText, TextDialog } from './TextDialog'
import type { Capture, CaptureFile } from './types'

const COLUMNS = {
  name: { title: 'Name' },
  type: { title: 'Said to be', from: 'lg' },
  size: { title: 'Size', isNumber: true, from: 'sm' },
  download: { title: 'Download', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

export function FilesPanel({ capture }: { capture: Capture }) {
  const download = useDownload(capture.id)
  const [asked, setAsked] = useState('')
  const [read, setRead] = useState<CaptureFile | null>(null)
  function fetch(name: string) {
    setAsked(name)
    download.mutate(name)
  }
  return (
    <Panel
      title="Files"
      lead="Content of others: open what you download with care. Here text is shown as text alone."
    >
      {download.error && (
        <div className="p-4">
          <Refused>
            {asked} could not be downloaded. {sentence(download.error)}
          </Refused>
        </div>
      )}
      <Table label="Files" columns={Object.values(COLUMNS)}>
        {capture.files.map((file) => (
          <Row
            key={file.name}
            file={file}
            isBusy={download.isPending && asked === file.name}
            onDownload={() => fetch(file.name)}
            onRead={() => setRead(file)}
          />
        ))}
      </Table>
      {read && <TextDialog capture={capture.id} file={read} onClose={() => setRead(null)} />}
    </Panel>
  )
}

type RowProps = { file: CaptureFile; isBusy: boolean; onDownload: () => void; onRead: () => void }

function Row({ file, isBusy, onDownload, onRead }: RowProps) {
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.name} className="[overflow-wrap:anywhere]">
        <span className="font-medium">{file.name}</span>{' '}
        {file.deduplicated && (
          <Badge title="The same bytes were here already when it came; they are stored once.">
            Known bytes
          </Badge>
        )}
        <div title={`SHA-256 ${file.sha256}`} className="font-mono text-2xs text-soft">
          <span className="sr-only">SHA-256 </span>
          {file.sha256.slice(0, 16)}…<span className="font-sans sm:hidden"> · {sized(file.size)}</span>
        </div>
      </Cell>
      <Cell column={COLUMNS.type} className="text-xs/5 text-soft [overflow-wrap:anywhere]">
        {file.content_type}
      </Cell>
      <Cell column={COLUMNS.size} className="whitespace-nowrap">
        <span title={`${file.size} bytes`}>{sized(file.size)}</span>
      </Cell>
      <Cell column={COLUMNS.download} className="!py-1.5 whitespace-nowrap">
        {isText(file) && (
          <Button
            look="quiet"
            icon={TextSearch}
            needs="captures.view"
            aria-label={`Show the text of ${file.name}`}
            onClick={onRead}
          >
            <span className="max-sm:sr-only">Text</span>
          </Button>
        )}
        <Button
          icon={Download}
          needs="captures.view"
          isBusy={isBusy}
          aria-label={`Download ${file.name}`}
          onClick={onDownload}
        >
          {isBusy ? 'Fetching…' : 'Download'}
        </Button>
      </Cell>
    </tr>
  )
}
