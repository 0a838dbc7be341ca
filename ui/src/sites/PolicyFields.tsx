// The policy as fields, for making a site and for changing one.
import { faultAt } from '@/api/problems'
import { TextArea, TextField } from '@/kit/Field'
import { GROUPS, MARKERS, type PolicyDraft, unsetText, usually } from './policy'

type Props = { draft: PolicyDraft; onChange: (draft: PolicyDraft) => void; error: unknown }

export function PolicyFields({ draft, onChange, error }: Props) {
  return (
    <div className="flex flex-col gap-5">
      {GROUPS.map((group) => (
        <fieldset key={group.title}>
          <legend className="mb-2 text-xs font-semibold text-soft">{group.title}</legend>
          <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
            {group.entries.map((entry) => (
              <TextField
                key={entry.key}
                label={entry.label}
                inputMode="numeric"
                value={draft[entry.key]}
                onChange={(value) => onChange({ ...draft, [entry.key]: value })}
                placeholder={entry.usual === null ? unsetText(entry) : undefined}
                after={entry.unit}
                hint={`${entry.means} Usually ${usually(entry)}.`}
                fault={faultAt(error, `/policy/${entry.key}`)}
              />
            ))}
          </div>
        </fieldset>
      ))}
      <TextArea
        label={MARKERS.label}
        value={draft.auth_markers}
        onChange={(auth_markers) => onChange({ ...draft, auth_markers })}
        hint={MARKERS.means}
        fault={faultAt(error, '/policy/auth_markers')}
      />
    </div>
  )
}
