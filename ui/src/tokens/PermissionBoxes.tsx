// Permissions to tick, by resource. Only those one holds are offered: nobody can give more than that.
import { useWho } from '@/api/permissions'
import type { Permission } from '@/api/types'

type Props = { chosen: ReadonlySet<Permission>; onChange: (chosen: ReadonlySet<Permission>) => void }

function byResource(permissions: string[]): [string, Permission[]][] {
  const groups = new Map<string, Permission[]>()
  for (const permission of permissions as Permission[]) {
    const resource = permission.split('.')[0] ?? permission
    groups.set(resource, [...(groups.get(resource) ?? []), permission])
  }
  return [...groups]
}

export function PermissionBoxes({ chosen, onChange }: Props) {
  const { data: who } = useWho()

  function toggle(permission: Permission) {
    const after = new Set(chosen)
    if (!after.delete(permission)) after.add(permission)
    onChange(after)
  }

  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium">Permissions, out of those you have</legend>
      <div className="grid grid-cols-1 divide-y divide-line rounded-md border border-line">
        {byResource(who?.permissions ?? []).map(([resource, permissions]) => (
          <div key={resource} className="grid grid-cols-[5rem_minmax(0,1fr)] gap-x-3 px-3 py-1.5">
            <span aria-hidden className="text-soft">
              {resource}
            </span>
            <div className="flex flex-wrap gap-x-4 gap-y-1">
              {permissions.map((permission) => (
                <label key={permission} className="flex cursor-pointer items-center gap-1.5">
                  <input
                    type="checkbox"
                    aria-label={permission}
                    checked={chosen.has(permission)}
                    onChange={() => toggle(permission)}
                    className="size-3.5 accent-accent"
                  />
                  {permission.slice(resource.length + 1)}
                </label>
              ))}
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  )
}
