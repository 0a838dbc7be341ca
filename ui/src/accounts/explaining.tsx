// Why an account is in the state it is in, and what will get it out of it, in a sentence.
import { Countdown } from '@/kit/Countdown'
import { rest } from './ladder'
import { STATES } from './states'
import type { Account } from './types'

const WASHES: Record<Account['state'], string> = {
  using: 'border-line bg-panel shadow-raised',
  active: 'border-line bg-panel shadow-raised',
  cooling: 'border-warn/30 bg-warn-wash',
  inactive: 'border-line bg-sunken',
  blocked: 'border-bad/30 bg-bad-wash',
}
const INKS: Record<Account['state'], string> = {
  using: 'text-accent',
  active: 'text-good',
  cooling: 'text-warn',
  inactive: 'text-soft',
  blocked: 'text-bad',
}

export function AccountExplanation({ account }: { account: Account }) {
  const { icon: Icon } = STATES[account.state]
  const also = asides(account)
  return (
    <section
      aria-label="Explanation"
      className={`flex gap-3 rounded-lg border px-4 py-3 ${WASHES[account.state]}`}
    >
      <Icon aria-hidden size={18} className={`mt-0.5 shrink-0 ${INKS[account.state]}`} />
      <div className="min-w-0">
        <p className="text-base font-medium [overflow-wrap:anywhere]">
          <Why account={account} />
        </p>
        {also.length > 0 && <p className="mt-0.5 text-soft">{also.join(' ')}</p>}
      </div>
    </section>
  )
}

function Why({ account }: { account: Account }) {
  const { state, holder, expires_at, cooling_until, blocked_reason } = account
  if (state === 'using' && expires_at) {
    return (
      <>
        In use by {holder}. The lease <Countdown until={expires_at} before="ends in " over="ends now" />{' '}
        unless it is renewed.
      </>
    )
  }
  if (state === 'cooling' && cooling_until) {
    return (
      <>
        Cooling {causeOfRest(account)}:{' '}
        <Countdown until={cooling_until} before="free again in " over="free any moment" />.
      </>
    )
  }
  if (state === 'blocked') return `Blocked: ${blocked_reason ?? 'no reason given'}.`
  if (state === 'inactive') {
    return account.last_outcome === 'invalid_credentials'
      ? 'Inactive: the site refused its credentials. Replace the secret, then activate it.'
      : 'Inactive: set aside until somebody activates it.'
  }
  return 'Free: the next who asks for one like it may get it.'
}

function causeOfRest({ last_outcome, consecutive_failures: rung, unclean_ends }: Account): string {
  if (unclean_ends > 0) return 'after a lease that ran out'
  if (last_outcome === 'failed') return `after a failure (rung ${rung}: ${rest(rung)})`
  if (last_outcome === 'rate_limited') return 'because the site asked for a pause'
  return 'after its last use'
}

function asides(account: Account): string[] {
  const { state, standing, on_probation, needs_login } = account
  return [
    state === 'using' && standing !== 'active' ? `It will be ${standing} once the lease has ended.` : '',
    state === 'blocked' ? 'Activated, it comes back on probation: one more bad end blocks it again.' : '',
    on_probation ? 'It is on probation: one more bad end blocks it again.' : '',
    needs_login ? 'Its session is gone: whoever gets it has to sign in first.' : '',
  ].filter(Boolean)
}
