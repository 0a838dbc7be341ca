// Where a file is dropped or chosen. Whoever uses it gets the bytes: only a reader knows their encoding.
import { FileUp } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { Refused } from './states'

type Props = {
  /** What a screen reader calls the field. */
  label: string
  hint: string
  accept: string
  onFile: (name: string, bytes: Uint8Array<ArrayBuffer>) => void
}

export function DropZone({ label, hint, accept, onFile }: Props) {
  const [isOver, setIsOver] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  async function open(file: File | undefined) {
    if (!file) return
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      setFault(null)
      onFile(file.name, bytes)
    } catch {
      setFault(`${file.name} could not be read.`)
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
        <span className="text-xs text-soft">{hint}</span>
        <input
          type="file"
          data-first
          aria-label={label}
          accept={accept}
          onChange={(event) => {
            open(event.target.files?.[0])
            // The same file, mended meanwhile, can be chosen again.
            event.target.value = ''
          }}
          className="sr-only"
        />
      </label>
      <Refused>{fault}</Refused>
    </>
  )
}
