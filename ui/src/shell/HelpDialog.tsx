// Which keys do what.
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { GOING, SHORTCUTS } from './shortcuts'

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" isWide onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
      <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        {Object.entries(SHORTCUTS).map(([where, keys]) => (
          <Keys key={where} where={where} keys={keys} />
        ))}
        <Keys
          where="Go"
          keys={Object.fromEntries(GOING.map(({ key, label }) => [`g ${key}`, label]))}
          isDense
        />
      </div>
    </Dialog>
  )
}

type KeysProps = { where: string; keys: Record<string, string>; isDense?: boolean }

function Keys({ where, keys, isDense }: KeysProps) {
  return (
    <section className={isDense ? 'sm:col-span-2' : ''}>
      <h3 className="mb-2 text-xs font-medium text-soft">{where}</h3>
      <dl className={`grid gap-x-6 gap-y-1.5 ${isDense ? 'grid-cols-2 sm:grid-cols-4' : ''}`}>
        {Object.entries(keys).map(([key, does]) => (
          <div key={key} className="flex items-baseline gap-2.5">
            <dt className={isDense ? 'w-9 shrink-0' : 'w-14 shrink-0'}>
              <kbd className="rounded border border-edge bg-sunken px-1.5 py-0.5 font-mono text-xs whitespace-nowrap">
                {key}
              </kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
