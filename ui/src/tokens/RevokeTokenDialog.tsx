// Takes a token out of the world, after asking once.

import type { Token } from '@/api/types'
import { Confirm } from '@/kit/Confirm'
import { exactly } from '@/kit/Moment'
import { Warning } from '@/kit/states'
import { useRevokeToken } from './api'

type Props = { token: Token; isOwn: boolean; onClose: () => void }

export function RevokeTokenDialog({ token, isOwn, onClose }: Props) {
  const revocation = useRevokeToken(isOwn)
  return (
    <Confirm
      title={`Revoke ${token.name}`}
      onClose={onClose}
      onConfirm={() => revocation.mutate(token.id, { onSuccess: onClose })}
      label="Revoke token"
      change={revocation}
      isHard
    >
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
    </Confirm>
  )
}
