// Makes a job on its way more or less urgent, or puts it off.
import { useState } from 'react'
import { faultAt } from '@/api/problems'
import { Confirm } from '@/kit/Confirm'
import { Select, TextField } from '@/kit/Field'
import { useZone } from '@/kit/zone'
import { useSteer } from './api'
import { BEGINS, type Begin, notBefore, tomorrow, typedTime } from './delays'
import { Name } from './Name'
import { PRIORITIES } from './priorities'
import type { Job, JobChange } from './types'

const TIME = '/not_before'

export function SteerDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const change = useSteer(job.id)
  const zone = useZone()
  const [before] = useState(String(job.priority))
  const [priority, setPriority] = useState(before)
  const [begin, setBegin] = useState<Begin>('stays')
  const [time, setTime] = useState(tomorrow)
  const isWaiting = job.parts.some(({ status }) => status === 'pending')
  const isUnread = begin === 'typed' && typedTime(time, zone) === null

  function submit() {
    const wish: JobChange = {}
    if (priority !== before) wish.priority = Number(priority)
    const at = notBefore(begin, time, zone)
    if (at) wish.not_before = at
    change.mutate(wish, { onSuccess: onClose })
  }

  return (
    <Confirm
      title="Change the job"
      label="Save changes"
      needs="jobs.manage"
      change={change}
      objection={isUnread ? 'Say when it shall begin.' : null}
      onConfirm={submit}
      onClose={onClose}
      pointers={['/priority', ...(begin === 'typed' ? [TIME] : [])]}
    >
      <Name job={job} />
      <Select
        label="Priority"
        value={priority}
        onChange={setPriority}
        options={PRIORITIES}
        hint="Higher goes first, also before those that have waited longer."
        fault={faultAt(change.error, '/priority')}
      />
      {isWaiting ? (
        <Select
          label="Begins"
          value={begin}
          onChange={setBegin}
          options={BEGINS}
          hint="What was left until its deadline is left from then on."
        />
      ) : (
        <p className="text-soft">A worker has it. What you change counts for its next attempt.</p>
      )}
      {begin === 'typed' && (
        <TextField
          label="Not before"
          type="datetime-local"
          value={time}
          onChange={setTime}
          hint={zone === 'utc' ? 'In UTC.' : "By this machine's clock."}
          fault={faultAt(change.error, TIME)}
        />
      )}
    </Confirm>
  )
}
