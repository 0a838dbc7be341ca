// What the organisation allows its runs: how much one may cost, when it warns, and how many go at once.
import { type FormEvent, useState } from 'react'
import { useObjection } from '@/api/permissions'
import { faultAt, remainder } from '@/api/problems'
import { Button } from '@/kit/Button'
import { TextField } from '@/kit/Field'
import { dollars, microsOf, money } from '@/kit/money'
import { Page, Panel } from '@/kit/Panel'
import { Empty, Failure, Refused } from '@/kit/states'
import { type Allowance, useAllow, useAllowance } from './api'
import { BrowserPanel } from './BrowserPanel'

export function SettingsPage() {
  const objection = useObjection('runs.view')
  const { data, error, refetch, isFetching } = useAllowance(objection === null)
  return (
    <Page
      title="Settings"
      lead="What holds for everybody in this organisation, and what for this browser."
      asks="/v2/settings"
    >
      {objection ? (
        <Panel>
          <Empty title="Not for this token">{objection}</Empty>
        </Panel>
      ) : error && !data ? (
        <Failure
          what="The settings could not be loaded."
          error={error}
          onRetry={refetch}
          isRetrying={isFetching}
        />
      ) : data ? (
        <Form allowance={data} />
      ) : (
        <div role="status" aria-busy="true" aria-label="Loading the settings" className="skeleton h-64" />
      )}
      <BrowserPanel />
    </Page>
  )
}

const POINTERS = ['/budget_cap_micros', '/soft_warning_percent', '/max_concurrent_runs']

function Form({ allowance }: { allowance: Allowance }) {
  const [cap, setCap] = useState(dollars(allowance.budget_cap_micros))
  const [soft, setSoft] = useState(String(allowance.soft_warning_percent))
  const [slots, setSlots] = useState(String(allowance.max_concurrent_runs))
  const change = useAllow()
  const micros = microsOf(cap)
  const isSame =
    micros === allowance.budget_cap_micros &&
    soft === String(allowance.soft_warning_percent) &&
    slots === String(allowance.max_concurrent_runs)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (micros === null || isSame) return
    change.mutate({
      budget_cap_micros: micros,
      soft_warning_percent: Number(soft),
      max_concurrent_runs: Number(slots),
    })
  }

  return (
    <Panel title="Runs" lead="A run that was started keeps the cap it was started with.">
      <form noValidate onSubmit={submit}>
        <div className="flex max-w-xl flex-col gap-4 p-4">
          <Refused>{remainder(change.error, POINTERS)}</Refused>
          <TextField
            label="Budget cap of one run"
            value={cap}
            onChange={setCap}
            inputMode="decimal"
            after="dollars"
            hint="What may cost more is not started. At the cap a run pauses and waits for somebody."
            fault={
              micros === null ? 'This is no amount of dollars.' : faultAt(change.error, '/budget_cap_micros')
            }
          />
          <TextField
            label="Soft limit"
            type="number"
            min={1}
            max={100}
            value={soft}
            onChange={setSoft}
            after="% of the cap"
            hint={`From ${money(((micros ?? 0) * Number(soft)) / 100)} on a run is warned of.`}
            fault={faultAt(change.error, '/soft_warning_percent')}
          />
          <TextField
            label="Runs at once"
            type="number"
            min={1}
            max={1000}
            value={slots}
            onChange={setSlots}
            hint="The others wait in line for a slot."
            fault={faultAt(change.error, '/max_concurrent_runs')}
          />
        </div>
        <div className="flex items-center justify-end gap-3 border-t border-line px-4 py-3">
          <span role="status" className="text-good">
            {change.isSuccess && isSame && 'Saved.'}
          </span>
          <Button
            type="submit"
            look="primary"
            needs="settings.manage"
            isBusy={change.isPending}
            objection={isSame ? 'Nothing has changed.' : null}
          >
            Save
          </Button>
        </div>
      </form>
    </Panel>
  )
}
