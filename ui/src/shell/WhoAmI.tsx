// Whose token this is, its role and what it may do, with the way out.
import { LogOut } from 'lucide-react'
import { useWho } from '@/api/permissions'
import { signOut } from '@/api/session'
import { IconButton } from '@/kit/Button'
import { Moment } from '@/kit/Moment'
import { Tip } from '@/kit/Tip'

export function WhoAmI() {
  const { data: who } = useWho()
  return (
    <div className="flex items-center justify-between gap-1">
      <Tip
        className="min-w-0"
        text={
          who ? (
            <>
              <span className="font-semibold">This token may:</span>
              <span className="mt-0.5 block font-mono text-2xs">{who.permissions.join(', ')}</span>
              {who.expires_at && (
                <span className="mt-1 block">
                  It expires <Moment at={who.expires_at} />.
                </span>
              )}
            </>
          ) : (
            'Asking the server who you are.'
          )
        }
      >
        {/* A button, so that the list of permissions can be reached without a mouse. */}
        <button type="button" className="min-w-0 rounded-md px-2.5 py-1 text-left">
          <span className="block truncate font-medium">{who?.name ?? '…'}</span>
          <span className="block truncate text-xs text-soft">
            {who ? (who.role ?? 'own permissions') : 'signed in'}
          </span>
        </button>
      </Tip>
      <IconButton icon={LogOut} label="Sign out" onClick={() => signOut()} />
    </div>
  )
}
