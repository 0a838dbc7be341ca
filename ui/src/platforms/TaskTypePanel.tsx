// One kind of task: the schema its payloads pass, and an example that does.
import { Plus } from 'lucide-react'
import { Button } from '@/kit/Button'
import { CopyButton } from '@/kit/CopyButton'
import { Disclosure } from '@/kit/Field'
import { Json } from '@/kit/Json'
import { Panel } from '@/kit/Panel'
import type { TaskType } from './types'

type Props = { name: string; type: TaskType; onNew: () => void }

export function TaskTypePanel({ name, type, onNew }: Props) {
  return (
    <Panel
      title={name}
      lead={type.title === name ? undefined : type.title}
      action={
        <Button
          look="quiet"
          icon={Plus}
          needs="jobs.submit"
          onClick={onNew}
          aria-label={`New job of type ${name}`}
        >
          New job
        </Button>
      }
    >
      <div className="flex flex-col gap-3 px-4 py-3">
        <div className="flex items-center justify-between gap-4">
          <h3 className="text-xs font-medium text-soft">Example</h3>
          <CopyButton text={JSON.stringify(type.example, null, 2)} label="Copy example" />
        </div>
        <Json value={type.example} label={`Example of ${name}`} />
        <Disclosure summary="Schema">
          <Json value={type.schema} label={`Schema of ${name}`} />
        </Disclosure>
      </div>
    </Panel>
  )
}
