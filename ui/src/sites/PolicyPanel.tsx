// How gently the site is treated, and the way to change it.
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { faultAt, remainder } from '@/api/problems'
import type { Site } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { TextField } from '@/kit/Field'
import { Panel } from '@/kit/Panel'
import { Refused } from '@/kit/states'
import { useChangeSite } from './api'
import { PolicyFields } from './PolicyFields'
import { GROUPS, MARKERS, POLICY_POINTERS, policyChange, policyDraft, unsetText, usually } from './policy'

export function PolicyPanel({ site }: { site: Site }) {
  const [isEditing, setIsEditing] = useState(false)
  return (
    <Panel
      title="Policy"
      action={
        <Button look="quiet" icon={SlidersHorizontal} needs="sites.manage" onClick={() => setIsEditing(true)}>
          Edit
        </Button>
      }
    >
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        {GROUPS.flatMap((group) => group.entries).map((entry) => {
          const value = site.policy[entry.key]
          return (
            <div key={entry.key} className="flex justify-between gap-4">
              <dt className="text-soft" title={`${entry.means} Usually ${usually(entry)}.`}>
                {entry.label}
              </dt>
              {/* What somebody set stands out from what is usual. */}
              <dd className={value === entry.usual ? '' : 'font-semibold'}>
                {value === null ? unsetText(entry) : value} {value !== null && entry.unit}
              </dd>
            </div>
          )
        })}
        <div className="flex justify-between gap-4">
          <dt className="text-soft" title={MARKERS.means}>
            {MARKERS.label}
          </dt>
          <dd className="min-w-0 text-right break-words">{site.policy.auth_markers.join(', ') || 'none'}</dd>
        </div>
      </dl>
      {isEditing && <EditDialog site={site} onClose={() => setIsEditing(false)} />}
    </Panel>
  )
}

function EditDialog({ site, onClose }: { site: Site; onClose: () => void }) {
  // The draft is compared with what stood here at the start: a field somebody else changed meanwhile is not set back.
  const [before] = useState(() => policyDraft(site.policy))
  const [policy, setPolicy] = useState(before)
  const [name, setName] = useState(site.name)
  const change = useChangeSite(site.slug)

  function submit() {
    const wish = { name: name === site.name ? null : name.trim(), policy: policyChange(before, policy) }
    change.mutate(wish, { onSuccess: onClose })
  }

  return (
    <Dialog
      title={`Edit ${site.slug}`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            Save changes
          </Button>
        </>
      }
    >
      <Refused>{remainder(change.error, ['/name', ...POLICY_POINTERS])}</Refused>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        fault={faultAt(change.error, '/name')}
        isFirst
      />
      <PolicyFields draft={policy} onChange={setPolicy} error={change.error} />
    </Dialog>
  )
}
