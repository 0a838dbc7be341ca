// Who changed what and when, newest first.
import { ChevronRight } from 'lucide-react'
import { Fragment, useId, useState } from 'react'
import { answered, api } from '@/api/client'
import { useList } from '@/api/lists'
import { useObjection } from '@/api/permissions'
import type { AuditEvent } from '@/api/types'
import { Button } from '@/kit/Button'
import { asked } from '@/kit/copying'
import { Moment } from '@/kit/Moment'
import { Page, Panel } from '@/kit/Panel'
import { SearchField } from '@/kit/SearchField'
import { Empty, Failure } from '@/kit/states'
import { Cell, type Column, ListFooter, ROW, Table } from '@/kit/Table'
import { useSettled } from '@/kit/useSettled'
import { useUrlText } from '@/kit/useUrlText'
import { EventDetail, subjectLink } from './EventDetail'

const COLUMNS = {
  when: { title: 'When' },
  action: { title: 'Action' },
  subject: { title: 'Subject', from: 'sm' },
  actor: { title: 'Actor', from: 'sm' },
  detail: { title: 'Details', isNumber: true, isHiddenTitle: true },
} satisfies Record<string, Column>

function useEvents(subject: string, isAllowed: boolean) {
  const wanted = subject || undefined
  return useList<AuditEvent>(
    ['audit', subject],
    (cursor) => answered(api.GET('/v2/audit', { params: { query: { subject: wanted, cursor } } })),
    { enabled: isAllowed },
  )
}

export function AuditPage() {
  const objection = useObjection('audit.view')
  const [subject, setSubject] = useUrlText('subject')
  const [wanted, setWanted] = useUrlText('q')
  const list = useEvents(useSettled(subject.trim()), objection === null)
  const needle = wanted.trim().toLowerCase()
  const found = list.items?.filter((event) =>
    [event.action, event.actor_name].some((text) => text.toLowerCase().includes(needle)),
  )
  const isFiltered = subject !== '' || wanted !== ''

  function clear() {
    setSubject('')
    setWanted('')
  }

  return (
    <Page
      title="Audit"
      asks={asked('/v2/audit', { subject })}
      lead="Who changed what and when. Nothing here can be changed or removed."
    >
      {list.error !== null && (
        <Failure
          what={list.items ? 'The list could not be refreshed.' : 'The audit could not be loaded.'}
          error={list.error}
          onRetry={list.retry}
          isRetrying={list.isRefreshing}
          isOld={list.items !== undefined}
        />
      )}
      {objection ? (
        <Panel>
          <Empty title="Not for this token">{objection}</Empty>
        </Panel>
      ) : (
        (list.error === null || found) && (
          <Panel>
            <div className="flex flex-wrap gap-2 border-b border-line px-4 py-2.5">
              <SearchField
                label="Subject"
                placeholder="Subject: a slug or an id, in full"
                value={subject}
                onChange={setSubject}
                isMain
              />
              <SearchField label="Action or actor" value={wanted} onChange={setWanted} />
            </div>
            {found?.length === 0 ? (
              <Empty
                title={isFiltered ? 'Nothing matches' : 'Nothing has been changed yet'}
                action={isFiltered && <Button onClick={clear}>Clear the filters</Button>}
              >
                {isFiltered
                  ? 'No loaded event fits. A subject is matched in full, an action or actor in part.'
                  : 'Every change to sites, tokens and the rest will be listed here, with who made it.'}
              </Empty>
            ) : (
              <Table label="Audit" columns={Object.values(COLUMNS)} isLoading={!found}>
                {found?.map((event) => (
                  <Row key={event.id} event={event} onSubject={setSubject} />
                ))}
              </Table>
            )}
            {found && <ListFooter list={list} shown={found.length} noun="event" />}
          </Panel>
        )
      )}
    </Page>
  )
}

function Row({ event, onSubject }: { event: AuditEvent; onSubject: (subject: string) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const detail = useId()
  const subject = (
    <button
      type="button"
      title={`Only ${event.subject}`}
      onClick={() => onSubject(event.subject)}
      className="max-w-full truncate text-left font-mono text-xs/5 hover:underline"
    >
      {event.subject}
    </button>
  )
  return (
    <Fragment>
      <tr className={ROW}>
        <Cell column={COLUMNS.when} className="w-32 text-soft">
          <Moment at={event.at} />
        </Cell>
        <Cell column={COLUMNS.action} className="font-medium">
          {event.action}
          <div className="max-w-40 font-normal sm:hidden">{subject}</div>
        </Cell>
        <Cell column={COLUMNS.subject} className="max-w-36 md:max-w-48 lg:max-w-72">
          {subject}
        </Cell>
        <Cell column={COLUMNS.actor} className="min-w-32 [overflow-wrap:anywhere]">
          <span title={event.actor ?? undefined}>{event.actor_name}</span>
        </Cell>
        <Cell column={COLUMNS.detail} className="!py-1">
          <Button
            look="quiet"
            className="-mr-3"
            aria-expanded={isOpen}
            aria-controls={detail}
            aria-label={`Details of ${event.action}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronRight
              aria-hidden
              size={15}
              className={`transition-transform ${isOpen ? 'rotate-90' : ''}`}
            />
          </Button>
        </Cell>
      </tr>
      {isOpen && (
        <tr>
          <td id={detail} colSpan={Object.keys(COLUMNS).length} className="bg-sunken px-4 py-3">
            <EventDetail event={event} link={subjectLink(event)} />
          </td>
        </tr>
      )}
    </Fragment>
  )
}
