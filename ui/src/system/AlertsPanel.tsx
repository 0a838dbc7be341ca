// What an operator was told of, or would have been: the alerts of the last day.
import { BellOff, CircleCheck, Clock, Send } from 'lucide-react'
import { Badge } from '@/kit/Badge'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { Cell, type Column, ROW, Table } from '@/kit/Table'
import type { Alert, System } from './api'

const COLUMNS = {
  what: { title: 'What' },
  where: { title: 'Platform', from: 'sm' },
  state: { title: 'Told' },
  at: { title: 'When', isNumber: true },
} satisfies Record<string, Column>

export function AlertsPanel({ system }: { system: System | undefined }) {
  const alerts = system?.alerts
  return (
    <Panel
      title="Alerts"
      lead={system && (system.alerts_on ? 'Sent to the address in the settings.' : <Nobody />)}
    >
      {alerts?.length === 0 ? (
        <p className="px-4 py-6 text-soft">None within the last day.</p>
      ) : (
        <Table label="Alerts" columns={Object.values(COLUMNS)} isLoading={!alerts}>
          {alerts?.map((alert) => (
            <Row
              key={`${alert.kind} ${alert.platform} ${alert.reason} ${alert.at}`}
              alert={alert}
              isOn={system?.alerts_on ?? false}
            />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function Nobody() {
  return (
    <>
      Told to nobody: set <code className="font-mono">LEASEHOLD_ALERT_URL</code> to have them sent.
    </>
  )
}

function Row({ alert, isOn }: { alert: Alert; isOn: boolean }) {
  const words = alert.kind.replaceAll('_', ' ')
  return (
    <tr className={ROW}>
      <Cell column={COLUMNS.what} className="[overflow-wrap:anywhere]">
        <span className="font-medium">{words.charAt(0).toUpperCase() + words.slice(1)}</span>
        {alert.count > 1 && <span className="text-soft"> ×{alert.count}</span>}
        {alert.reason && <div className="text-xs/5 text-soft">{alert.reason}</div>}
      </Cell>
      <Cell column={COLUMNS.where}>{alert.platform ?? <span className="text-soft">none</span>}</Cell>
      <Cell column={COLUMNS.state}>
        {alert.sent_at ? (
          <Badge tone="good" icon={CircleCheck}>
            Sent
          </Badge>
        ) : !isOn ? (
          <Badge icon={BellOff}>To nobody</Badge>
        ) : alert.tries > 0 ? (
          <Badge tone="warn" icon={Send} title="The address did not take it; it is tried again.">
            Tried {alert.tries} times
          </Badge>
        ) : (
          <Badge icon={Clock}>Waits</Badge>
        )}
      </Cell>
      <Cell column={COLUMNS.at} className="text-soft">
        <Moment at={alert.at} />
      </Cell>
    </tr>
  )
}
