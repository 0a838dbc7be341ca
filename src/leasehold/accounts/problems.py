"""Why something about an account is refused."""

from leasehold.problems import Problem


class AccountUnknown(Problem):
    """No account of your organisation has this id. `GET /v2/accounts` lists them."""

    status, title = 404, "Account unknown"


class AccountExists(Problem):
    """The site has an account with this username already; `account` names it. Change that one, or import to update."""

    status, title = 409, "Account exists"


class AccountInUse(Problem):
    """Somebody holds a lease on this account. Wait until it ends, or revoke it: `lease` names it."""

    status, title = 409, "Account in use"


class PoolsMoving(Problem):
    """The accounts are being moved to another store, or were: `store` says where they are.

    Try again after `Retry-After`. Leases live on; once the move is done, a server with `LEASEHOLD_POOLS` set to that
    store answers.
    """

    status, title = 503, "Pools moving"
