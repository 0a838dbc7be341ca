// What a run was started with, beside what is in force for it now; what differs is marked.
import { CircleCheck, Diff } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Failure } from '@/kit/states'
import { Cell, type Column, Table } from '@/kit/Table'
import { useUrlText } from '@/kit/useUrlText'
import { useConfig } from './api'
import { isSaid, labelled, sectioned, shown } from './settings'
import type { Config, Run, Setting } from './types'

const COLUMNS = {
  setting: { title: 'Setting' },
  before: { title: 'Started with' },
  now: { title: 'Now' },
} satisfies Record<string, Column>

export function ConfigTab({ run }: { run: Run }) {
  const { data, error, refetch, isFetching } = useConfig(run)
  if (error && !data) {
    return (
      <div className="p-4">
        <Failure
          what="What it was started with could not be loaded."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      </div>
    )
  }
  if (!data) {
    return (
      <div
        role="status"
        aria-busy="true"
        aria-label="Loading what it was started with"
        className="skeleton m-4 h-48"
      />
    )
  }
  return <Compared config={data} />
}

function Compared({ config }: { config: Config }) {
  const [only, setOnly] = useUrlText('differs')
  const isNarrowed = only === '1' && config.differences > 0
  const items = config.items.filter(isNarrowed ? (one) => one.differs : isSaid)
  return (
    <>
      <Verdict config={config}>
        {config.differences > 0 && (
          <label className="flex cursor-pointer items-center gap-2 text-sm whitespace-nowrap">
            <input
              type="checkbox"
              checked={isNarrowed}
              onChange={() => setOnly(isNarrowed ? '' : '1')}
              className="size-4 accent-accent"
            />
            Only what differs
          </label>
        )}
      </Verdict>
      <Table label="Settings" columns={columnsFor(config)} isGrouped>
        {sectioned(items).map(([section, settings]) => (
          <Section key={section} name={section} settings={settings} />
        ))}
      </Table>
    </>
  )
}

function columnsFor({ is_started }: Config): Column[] {
  const before = is_started ? COLUMNS.before : { ...COLUMNS.before, title: 'Planned with' }
  return [COLUMNS.setting, before, COLUMNS.now]
}

function Verdict({ config, children }: { config: Config; children: React.ReactNode }) {
  const { differences: many, frozen_at: at, is_started: isStarted } = config
  const Icon = many > 0 ? Diff : CircleCheck
  const what = isStarted ? 'started' : 'planned'
  const sentence =
    many > 0
      ? `${many} ${many === 1 ? 'setting differs' : 'settings differ'} from what it was ${what} with.`
      : `Nothing differs from what it was ${what} with.`
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 px-4 pt-4 pb-2">
      <div role="status" aria-label="Comparison" className="flex min-w-0 gap-2">
        <Icon aria-hidden size={16} className={`mt-0.5 shrink-0 ${many > 0 ? 'text-warn' : 'text-good'}`} />
        <div className="min-w-0">
          <p className="font-medium">{sentence}</p>
          <p className="text-xs/5 text-soft">
            {at ? (
              <>
                Written down <Moment at={at} />.{' '}
                {isStarted
                  ? 'A run keeps its cap and its plan; prices and the platform’s file count as they are now.'
                  : 'It is written down again when it is started.'}
              </>
            ) : (
              'It is older than this page: of what it was started with, little was written down.'
            )}
          </p>
        </div>
      </div>
      {children}
    </div>
  )
}

function Section({ name, settings }: { name: string; settings: Setting[] }) {
  return (
    <tbody>
      <tr className="border-t border-line bg-sunken">
        <th scope="rowgroup" colSpan={3} className="px-4 py-1.5 text-left text-xs font-semibold">
          {name}
        </th>
      </tr>
      {settings.map((setting) => (
        <tr
          key={setting.path.join('/')}
          className={`border-t border-line ${setting.differs ? 'bg-warn-wash' : ''}`}
        >
          <Cell column={COLUMNS.setting} className="w-1/3 !py-1.5">
            <span className="mr-2">{labelled(setting)}</span>
            {setting.differs && <Badge tone="warn">differs</Badge>}
          </Cell>
          <Cell column={COLUMNS.before} className="w-1/3 !py-1.5 [overflow-wrap:anywhere]">
            {setting.differs === null ? (
              <span className="text-soft">not written down</span>
            ) : (
              shown(setting, 'frozen')
            )}
          </Cell>
          <Cell
            column={COLUMNS.now}
            className={`!py-1.5 [overflow-wrap:anywhere] ${setting.differs ? 'font-semibold' : ''}`}
          >
            {shown(setting, 'current')}
          </Cell>
        </tr>
      ))}
    </tbody>
  )
}
