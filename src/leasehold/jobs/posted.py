"""Tasks that lie in a broker's queue, in PostgreSQL: rows in, ids out."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import scalar_row

from leasehold.db import Conn
from leasehold.jobs.store import SQL


async def mark(conn: Conn, organisation: UUID, queue_s: Mapping[UUID, int]) -> None:
    """The broker has what these leases are on, and may have it for so long."""
    given = {"leases": list(queue_s), "queue_s": list(queue_s.values())}
    await conn.execute(SQL["mark_published"], {"organisation": organisation, **given})


async def keep(conn: Conn, organisation: UUID, depths: Sequence[tuple[str, int, int]]) -> None:
    """So many of each platform lie in its queue still: their time there begins anew."""
    given = {
        "platforms": [platform for platform, _, _ in depths],
        "depths": [depth for _, depth, _ in depths],
        "queue_s": [seconds for _, _, seconds in depths],
    }
    await conn.execute(SQL["keep_queued"], {"organisation": organisation, **given})


async def queued(conn: Conn, organisation: UUID) -> list[UUID]:
    """Leases of what lies in a queue that have to be renewed soon."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["queued"], {"organisation": organisation})
    return await cur.fetchall()
