// Which keys do what.
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { SHORTCUTS } from './shortcuts'

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
      <dl className="grid grid-cols-[4rem_1fr] items-center gap-y-2">
        {Object.entries(SHORTCUTS).map(([key, does]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-edge bg-sunken px-2 py-0.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
