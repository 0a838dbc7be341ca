// Asks for a crawl: the platform's own example to begin with, and what its schema refuses at the field it is about.
import { useRef, useState } from 'react'
import { newIdempotencyKey } from '@/api/client'
import { faultAt, Problem, remainder, sentence } from '@/api/problems'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { Disclosure, Select, TextArea, TextField } from '@/kit/Field'
import { Failure, Refused } from '@/kit/states'
import { usePlatforms, useThese } from '@/platforms/api'
import type { OnePlatform, Platform } from '@/platforms/types'
import { useSubmit } from './api'
import { PlatformBoxes } from './PlatformBoxes'
import {
  type Draft,
  draftOf,
  exampleOf,
  fieldsOf,
  merged,
  type PayloadField,
  payloadFault,
  payloadOf,
  payloadRemainder,
  WHOLE,
} from './payload'
import { PRIORITIES } from './priorities'
import type { Job } from './types'

type Props = {
  platform?: string
  taskType?: string
  /** One that is asked for once more, or nearly so. */
  like?: Job
  onClose: () => void
  onCreated: (job: Job) => void
}

export function NewJobDialog({ platform = '', taskType, like, onClose, onCreated }: Props) {
  const platforms = usePlatforms()
  const [chosen, setChosen] = useState<string[] | null>(
    like ? like.parts.map((part) => part.platform) : platform ? [platform] : null,
  )
  const slugs = chosen ?? platforms.data?.slice(0, 1).map((one) => one.platform) ?? []
  const these = useThese(slugs)
  const known = these.flatMap(({ data }) => data ?? [])
  const failed = [platforms, ...these].find(({ error, data }) => error && !data)
  const isThere = useRef(false)
  if (platforms.data && (isThere.current || known.length === slugs.length)) {
    // It stays while another platform is loaded: what was typed must not go.
    isThere.current = true
    return (
      <Form
        all={platforms.data}
        slugs={slugs}
        chosen={known}
        failure={failed?.error}
        onChoose={setChosen}
        {...{ taskType: like?.task_type ?? taskType, like, onClose, onCreated }}
      />
    )
  }
  return (
    <Dialog title="New job" onClose={onClose} footer={<Button onClick={onClose}>Cancel</Button>}>
      {failed ? (
        <Failure
          what="The platforms could not be loaded."
          error={failed.error}
          onRetry={failed.refetch}
          isRetrying={failed.isFetching}
        />
      ) : (
        <div role="status" aria-busy="true" aria-label="Loading the platforms" className="skeleton h-40" />
      )}
    </Dialog>
  )
}

const WISHES = {
  '': "The platform's own",
  ...PRIORITIES,
}

type FormProps = Omit<Props, 'platform'> & {
  all: Platform[]
  slugs: string[]
  /** Those of the chosen that are loaded. */
  chosen: OnePlatform[]
  failure: unknown
  onChoose: (slugs: string[]) => void
}

/** What all of them can do, by its title at the first. */
function typesOf(chosen: OnePlatform[]): Record<string, string> {
  const shared = Object.entries(chosen[0]?.task_types ?? {}).filter(([name]) =>
    chosen.every(({ task_types }) => name in task_types),
  )
  return Object.fromEntries(shared.map(([name, { title }]) => [name, title]))
}

function Form({ all, slugs, chosen, failure, onChoose, taskType, like, onClose, onCreated }: FormProps) {
  const types = typesOf(chosen)
  const [wanted, setWanted] = useState(taskType ?? '')
  const name = wanted in types ? wanted : (Object.keys(types)[0] ?? '')
  const type = merged(
    chosen.flatMap(({ platform, task_types: { [name]: found } }) =>
      found ? [[platform, found] as const] : [],
    ),
  )
  // What was typed stays when another platform is chosen; the rest is the example's.
  const [typed, setTyped] = useState<Draft>({})
  const [faults, setFaults] = useState<Draft>({})
  const [ownId, setOwnId] = useState('')
  // Ours when nobody names it: sent twice because an answer was lost, it is still one job.
  const [madeUp] = useState(() => `ui-${newIdempotencyKey().slice(0, 16)}`)
  const [priority, setPriority] = useState(like ? String(like.priority) : '')
  const [deadline, setDeadline] = useState('')
  const submission = useSubmit()
  const { error } = submission
  const fields = type ? fieldsOf(type) : []
  const isAlike = like !== undefined && name === like.task_type
  const given = type && (isAlike ? draftOf(type, like.payload) : exampleOf(type))
  const draft: Draft = { ...given, ...typed }
  const isLoaded = chosen.length === slugs.length
  const objection = objectionTo(slugs, name) ?? (isLoaded ? null : 'A platform is still being loaded.')

  function choose(next: string) {
    setWanted(next)
    setTyped({})
    setFaults({})
    submission.reset()
  }

  function chooseThese(next: string[]) {
    onChoose(next)
    setFaults({})
    submission.reset()
  }

  function submit() {
    if (!type) return
    const read = payloadOf(type, draft)
    setFaults(read.faults)
    if (Object.keys(read.faults).length > 0) return
    const wish = {
      schema_version: 1,
      job_id: ownId.trim() || madeUp,
      platform: slugs.length === 1 && slugs[0] ? slugs[0] : slugs,
      task_type: name,
      payload: read.payload as Record<string, never>,
      priority: priority === '' ? null : Number(priority),
      deadline_seconds: deadline.trim() === '' ? null : Number(deadline),
    }
    submission.mutate(wish, { onSuccess: onCreated })
  }

  return (
    <Dialog
      title="New job"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            needs="jobs.submit"
            objection={objection}
            isBusy={submission.isPending}
          >
            Submit
          </Button>
        </>
      }
    >
      <Refused>{failure ? sentence(failure) : above(error, fields)}</Refused>
      <PlatformBoxes
        platforms={all}
        chosen={slugs}
        onChange={chooseThese}
        fault={slugs.length === 0 ? (objection ?? undefined) : faultAt(error, '/platform')}
      />
      <Select
        label="Task type"
        value={name}
        onChange={choose}
        options={types}
        fault={slugs.length > 0 && isLoaded && objection ? objection : faultAt(error, '/task_type')}
      />
      {type && (
        <fieldset className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-3">
          <legend className="px-1 text-xs font-medium">Payload</legend>
          {fields.length === 0 && (
            <TextArea
              label="JSON"
              value={draft[WHOLE] ?? ''}
              onChange={(text) => setTyped({ [WHOLE]: text })}
              fault={faults[WHOLE] ?? payloadFault(error, WHOLE)}
            />
          )}
          {fields.map((field) => (
            <Input
              key={field.name}
              field={field}
              value={draft[field.name] ?? ''}
              onChange={(text) => setTyped({ ...typed, [field.name]: text })}
              fault={faults[field.name] ?? payloadFault(error, field.name)}
            />
          ))}
        </fieldset>
      )}
      <Disclosure summary="Name, priority and deadline" isOpen={MORE.some((at) => faultAt(error, at))}>
        <div className="flex flex-col gap-3">
          <TextField
            label="Job id"
            value={ownId}
            onChange={setOwnId}
            placeholder={madeUp}
            hint="Your own name for it. Sent again under the same name, it is the same job."
            fault={faultAt(error, '/job_id')}
            isMono
          />
          <Select
            label="Priority"
            value={priority}
            onChange={setPriority}
            options={WISHES as Record<string, string>}
            fault={faultAt(error, '/priority')}
          />
          <TextField
            label="Deadline"
            type="number"
            value={deadline}
            onChange={setDeadline}
            placeholder="the platform's own"
            after="seconds"
            fault={faultAt(error, '/deadline_seconds')}
          />
        </div>
      </Disclosure>
    </Dialog>
  )
}

const MORE = ['/job_id', '/priority', '/deadline_seconds']
const POINTERS = ['/platform', '/task_type', ...MORE]

function objectionTo(slugs: string[], type: string): string | null {
  if (slugs.length === 0) return 'Choose a platform.'
  return type ? null : 'These platforms have no type of task in common.'
}

function above(error: unknown, fields: PayloadField[]): string | null {
  const others = payloadRemainder(error, fields)
  const isAboutPayload =
    error instanceof Problem && error.faults.some((one) => one.pointer.startsWith('/payload'))
  if (fields.length === 0) return remainder(error, [...POINTERS, '/payload'])
  return isAboutPayload ? others.join('; ') || null : remainder(error, POINTERS)
}

type InputProps = { field: PayloadField; value: string; onChange: (text: string) => void; fault?: string }

function Input({ field, value, onChange, fault }: InputProps) {
  const { name, kind, isRequired, hint, choices = [] } = field
  const frame = { label: isRequired ? name : `${name} (optional)`, value, onChange, hint, fault }
  if (kind === 'json') return <TextArea {...frame} />
  if (kind === 'choice' || kind === 'yes-or-no') {
    const named =
      kind === 'choice'
        ? choices.map((one) => [one, one])
        : [
            ['true', 'yes'],
            ['false', 'no'],
          ]
    return (
      <Select
        {...frame}
        options={{ '': 'left out', ...Object.fromEntries(named) } as Record<string, string>}
      />
    )
  }
  return <TextField {...frame} inputMode={kind === 'number' ? 'decimal' : undefined} isMono />
}
