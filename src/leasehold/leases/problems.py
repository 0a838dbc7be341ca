"""Why something about a lease is refused."""

from uuid import UUID

from leasehold.ids import show
from leasehold.leases.models import PREFIX, How
from leasehold.problems import Problem


class LeaseLost(Problem):
    """The lease has ended and can change nothing any more. Stop using the resource and acquire again.

    `reason` says how it ended: `expired` (no heartbeat came in time), `released`, `revoked` (by an operator) or
    `superseded` (the work was given to somebody else). It is also answered when nobody took the resource since.
    """

    status, title = 410, "Lease lost"


class LeaseUnknown(Problem):
    """There never was such a lease in your organisation. Use the id as the acquire gave it."""

    status, title = 404, "Lease unknown"


_WHY = {
    How.EXPIRED: "This lease has ended: no heartbeat came before it ran out.",
    How.RELEASED: "This lease has ended: it was released.",
    How.REVOKED: "This lease has ended: an operator revoked it.",
    How.SUPERSEDED: "This lease has ended: its work was given to somebody else.",
}


def lost(lease: UUID, how: How) -> LeaseLost:
    return LeaseLost(_WHY[how], lease=show(PREFIX, lease), reason=str(how))


def unknown() -> LeaseUnknown:
    return LeaseUnknown("There is no such lease in your organisation, and there never was.")
