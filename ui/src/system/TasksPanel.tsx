// What runs in the background of the process that answered, those that are ill first.
import { CircleCheck, CircleX } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { briefly } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { BackgroundTask } from './api'

const COLUMNS = {
  name: { title: 'Service' },
  state: { title: 'State' },
  every: { title: 'Every', isNumber: true, from: 'sm' },
  good: { title: 'Last good step', isNumber: true },
} satisfies Record<string, Column>

export function TasksPanel({ tasks }: { tasks: BackgroundTask[] | undefined }) {
  const ill = tasks?.filter(({ is_well }) => !is_well).length ?? 0
  const sorted = tasks?.toSorted((one, other) => Number(one.is_well) - Number(other.is_well))
  return (
    <Panel
      title="Background services"
      lead={tasks && (ill > 0 ? `${ill} of ${tasks.length} are not well.` : `All ${tasks.length} are well.`)}
    >
      <Table label="Background services" columns={Object.values(COLUMNS)} isLoading={!tasks}>
        {sorted?.map((task) => (
          <tr key={task.name} className={ROW}>
            <Cell column={COLUMNS.name} className="!py-1.5 font-medium">
              {task.name}
            </Cell>
            <Cell column={COLUMNS.state} className="!py-1.5">
              <Badge tone={task.is_well ? 'good' : 'bad'} icon={task.is_well ? CircleCheck : CircleX}>
                {task.is_well ? 'Well' : task.failures > 0 ? `Failed ${task.failures} times` : 'Late'}
              </Badge>
            </Cell>
            <Cell column={COLUMNS.every} className="!py-1.5 whitespace-nowrap text-soft">
              {task.every_seconds > 0 ? briefly(task.every_seconds * 1000).replace('0 s', '< 1 s') : 'always'}
            </Cell>
            <Cell column={COLUMNS.good} className="!py-1.5 whitespace-nowrap text-soft">
              {task.every_seconds > 0 || !task.is_well
                ? `${briefly(task.last_good_seconds * 1000)} ago`
                : 'now'}
            </Cell>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}
