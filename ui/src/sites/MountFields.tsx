// Where a site lives: one field for the host, and the rest of the address for those who need it.
import { faultAt } from '@/api/problems'
import { Disclosure, Select, TextField } from '@/kit/Field'
import { addressRefusal, isPlain, type MountDraft, withHost } from './addresses'

type Props = {
  label: string
  hint: string
  draft: MountDraft
  onChange: (draft: MountDraft) => void
  error: unknown
  /** Where in the request the address stands: `/domain` or `/to`. */
  pointer: string
  isFirst?: boolean
}

export function mountPointers(pointer: string): string[] {
  return ['', '/host', '/port', '/prefix', '/fold'].map((step) => pointer + step)
}

export function MountFields({ label, hint, draft, onChange, error, pointer, isFirst }: Props) {
  const refusal = addressRefusal(error)
  const fault = (step: string) => faultAt(error, pointer + step)
  const change = (part: Partial<MountDraft>) => onChange({ ...draft, ...part })
  return (
    <>
      <TextField
        label={label}
        value={draft.host}
        onChange={(text) => onChange(withHost(draft, text))}
        placeholder="board.example"
        hint={hint}
        fault={(refusal?.field === 'host' ? refusal.text : undefined) ?? fault('') ?? fault('/host')}
        isMono
        isFirst={isFirst}
      />
      <Disclosure summary="Advanced address" isOpen={!isPlain(draft)}>
        <div className="grid gap-3 sm:grid-cols-2">
          <Select
            label="Scheme"
            value={draft.scheme}
            onChange={(scheme) => change({ scheme })}
            options={{ https: 'https', http: 'http' }}
          />
          <TextField
            label="Port"
            value={draft.port}
            onChange={(port) => change({ port })}
            inputMode="numeric"
            placeholder="the scheme's own"
            fault={fault('/port')}
          />
          <TextField
            label="Prefix"
            value={draft.prefix}
            onChange={(prefix) => change({ prefix })}
            hint="Where on the host the site begins."
            fault={(refusal?.field === 'prefix' ? refusal.text : undefined) ?? fault('/prefix')}
            isMono
          />
          <Select
            label="Hosts below it"
            value={draft.subdomains}
            onChange={(subdomains) => change({ subdomains })}
            options={{ keep: 'belong to the site', none: 'are not the site’s' }}
          />
          <TextField
            className="sm:col-span-2"
            label="Same as the bare host"
            value={draft.fold}
            onChange={(fold) => change({ fold })}
            hint="Subdomains that mean the host itself, such as www: letters, digits and -, with commas between them."
            fault={fault('/fold')}
            isMono
          />
        </div>
      </Disclosure>
    </>
  )
}
