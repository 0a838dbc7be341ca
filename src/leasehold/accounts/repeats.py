"""Keys of grants whose asker is gone, whichever store the accounts are in: forgotten with it, or left to a repeat."""

from collections.abc import Mapping
from uuid import UUID

from leasehold import idempotency
from leasehold.accounts.batch import Settled, Work
from leasehold.db import Conn


async def hang_up(conn: Conn, work: Work) -> None:
    """Leave alone what a repeat was told of: it is its own now."""
    if told := {end.once: end.lease.hex for end in work.batch.ends if end.once}:
        work.keep(await idempotency.hang_up_many(conn, work.organisation, told, work.keyed))


async def withdraw(conn: Conn, work: Work, settled: Mapping[UUID, Settled]) -> None:
    """Forget the keys of what was just given back without anybody knowing of it: a repeat gets something else.

    What had run out before is no such thing; its key stays, and a repeat is told that the lease is over.
    """
    gone = work.withdrawn(settled)
    if not gone:
        return
    await idempotency.forget_many(conn, work.organisation, gone)
    # A repeat that came in the same batch is the first of its key now.
    if again := [once for once in gone if once in work.repeats]:
        await idempotency.claim_many(conn, work.organisation, again)
        for once in again:
            del work.repeats[once]
