"""What becomes of those who got nothing, whichever store the accounts are in: a place in the queue, or the reason."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from uuid import UUID

from leasehold import leases
from leasehold.accounts import outlook
from leasehold.accounts.batch import Work
from leasehold.accounts.models import Ask, Outlook, Wish
from leasehold.db import Conn
from leasehold.ids import uuid7
from leasehold.leases import Place

# Finds what there is of what somebody wishes for.
Look = Callable[[Wish], Awaitable[Outlook]]


async def take_places(conn: Conn, work: Work, process: UUID, waiting: Sequence[Ask], look: Look) -> None:
    """Give those who have just come a place in the queue.

    Who wants more than there can ever be gets none: it would keep everything from those behind it.
    """
    newcomers = [ask for ask in waiting if ask.ticket is None]
    found = await _looked(look, (ask for ask in newcomers if ask.count > 1))
    work.done.queued = [ask for ask in newcomers if ask.count == 1 or _is_possible(work, ask, found[ask.kind])]
    work.done.waiting = [ask for ask in waiting if ask not in work.done.queued]
    places = [Place(uuid7(), ask.site, ask.priority, ask.count, ask.labels, ask.account) for ask in work.done.queued]
    if places:
        since = await leases.enqueue(conn, work.organisation, process, places)
        for ask, place in zip(work.done.queued, places, strict=True):
            ask.ticket, ask.since = place.id, since[place.id]


async def explain(work: Work, asks: Sequence[Ask], look: Look) -> None:
    """Tell those who will not wait any longer why there is nothing."""
    found = await _looked(look, asks)
    for ask in asks:
        work.done.empty[ask] = outlook.waiting(work.grounds[ask.site], ask.wish, found[ask.kind])


async def _looked(look: Look, asks: Iterable[Ask]) -> dict[Hashable, Outlook]:
    """One look for all who ask for the same."""
    kinds = {ask.kind: ask.wish for ask in asks}
    return {kind: await look(wish) for kind, wish in kinds.items()}


def _is_possible(work: Work, ask: Ask, there: Outlook) -> bool:
    cap = work.grounds[ask.site].cap
    return ask.count <= there.usable and (cap is None or ask.count <= cap)
