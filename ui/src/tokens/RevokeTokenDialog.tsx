// Takes a token out of the world, after asking once.
import { remainder } from '@/api/problems'
import type { Token } from '@/api/types'
import { Button } from '@/kit/Button'
import { Dialog } from '@/kit/Dialog'
import { exactly } from '@/kit/Moment'
import { Refused, Warning } from '@/kit/states'
import { useRevokeToken } from './api'

type Props = { token: Token; isOwn: boolean; onClose: () => void }

export function RevokeTokenDialog({ token, isOwn, onClose }: Props) {
  const revocation = useRevokeToken(isOwn)
  return (
    <Dialog
      title={`Revoke ${token.name}`}
      onClose={onClose}
      onSubmit={() => revocation.mutate(token.id, { onSuccess: onClose })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" isBusy={revocation.isPending}>
            Revoke token
          </Button>
        </>
      }
    >
      <Refused>{remainder(revocation.error, [])}</Refused>
      {isOwn && (
        <Warning>
          This is the token you are signed in with. You will be signed out, and need another one to come back.
        </Warning>
      )}
      <p>
        Whoever carries <strong>{token.name}</strong> is refused everywhere within a second, and for good.
      </p>
      <p className="text-soft">
        {token.last_used_at ? `Last used ${exactly(token.last_used_at)}.` : 'It was never used.'}
      </p>
    </Dialog>
  )
}
