// What can be done with any page: its address copied, its question taken to a shell, the view kept under a name.
import { Bookmark, Check, Link2, Share2, SquareTerminal } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useWho } from '@/api/permissions'
import { Button } from './Button'
import { copy, curl } from './copying'
import { Dialog } from './Dialog'
import { TextField } from './Field'
import { Menu } from './Menu'
import { shareable } from './sharing'
import { objectionTo, saveView } from './views'

const SAID_MS = 3_000

export function PageMenu({ asks }: { asks?: string }) {
  const { pathname, search } = useLocation()
  const [said, setSaid] = useState<string | null>(null)
  const [isNaming, setIsNaming] = useState(false)
  const { data: who } = useWho()

  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(null), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])

  function take(text: string, what: string) {
    copy(text).then(
      () => setSaid(`${what} copied`),
      () => setSaid('It could not be copied'),
    )
  }

  const link = () => shareable(window.location.href, Date.now(), who?.name)
  const items = [
    { label: 'Copy link', icon: Link2, onSelect: () => take(link(), 'Link') },
    ...(asks
      ? [{ label: 'Copy as curl', icon: SquareTerminal, onSelect: () => take(curl(asks), 'Command') }]
      : []),
    { label: 'Save this view', icon: Bookmark, onSelect: () => setIsNaming(true) },
  ]
  return (
    <div className="flex items-center gap-1.5">
      <span role="status" className="text-xs text-good">
        {said}
      </span>
      <Menu label="Share this page" icon={said ? Check : Share2} items={items} />
      {isNaming && (
        <NameDialog
          path={`${pathname}${search}`}
          onClose={() => setIsNaming(false)}
          onSaved={() => setSaid('View saved')}
        />
      )}
    </div>
  )
}

type NameProps = { path: string; onClose: () => void; onSaved: () => void }

function NameDialog({ path, onClose, onSaved }: NameProps) {
  const [name, setName] = useState('')
  const objection = objectionTo(name)
  return (
    <Dialog
      title="Save this view"
      onClose={onClose}
      onSubmit={() => {
        if (objection) return
        saveView(name, path)
        onSaved()
        onClose()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" objection={objection}>
            Save
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        isFirst
        maxLength={40}
        hint="It stands in the navigation, in this browser alone. Others get it by its link."
      />
      <p className="font-mono text-xs text-soft [overflow-wrap:anywhere]">{path}</p>
    </Dialog>
  )
}
