"""Alerts in PostgreSQL: raised in the transaction of what they tell of, taken out and told together."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import class_row

from leasehold.alerts.models import MOST_JOBS, QUIET_S, SWARMS, Known, Matter, Message, Raised
from leasehold.db import Conn, queries
from leasehold.ids import uuid7

SQL = queries("leasehold.alerts")
# In a minute, and organisation.
_MOST_MATTERS = 30


async def raise_(
    conn: Conn,
    organisation: UUID,
    kind: str,
    platform: str | None = None,
    reason: str | None = None,
    job_ids: Sequence[str] = (),
    count: int = 1,
) -> None:
    """Tell the operator of something, once the transaction is committed; alerts of one matter may be told together."""
    given = {"kind": kind, "platform": platform, "reason": reason, "count": count}
    some = list(dict.fromkeys(job_ids))[:MOST_JOBS]
    await conn.execute(SQL["raise"], {"id": uuid7(), "organisation": organisation, "job_ids": some, **given})


async def is_any(conn: Conn, organisation: UUID) -> bool:
    """Whether there is anything to do."""
    row = await (await conn.execute(SQL["is_any"], {"organisation": organisation})).fetchone()
    return bool(row and row[0])


async def is_our_turn(conn: Conn, organisation: UUID) -> bool:
    row = await (await conn.execute(SQL["turn"], {"organisation": organisation})).fetchone()
    return bool(row and row[0])


async def take(conn: Conn, organisation: UUID) -> Mapping[Matter, Raised]:
    """What may be told now, by matter."""
    given = {"swarms": list(SWARMS), "quiet_s": QUIET_S, "limit": _MOST_MATTERS}
    found: dict[Matter, Raised] = {}
    rows = await (await conn.execute(SQL["take"], {"organisation": organisation, **given})).fetchall()
    for kind, platform, reason, count, job_ids, at in sorted(rows, key=lambda row: row[5]):
        matter, one = Matter(kind, platform, reason), Raised(count, job_ids, at)
        found[matter] = found[matter].joined(one) if matter in found else one
    return found


async def make(conn: Conn, organisation: UUID, matter: Matter, raised: Raised) -> None:
    told = {"kind": matter.kind, "platform": matter.platform, "reason": matter.reason}
    how = {"count": raised.count, "job_ids": list(raised.job_ids), "at": raised.at}
    await conn.execute(SQL["make"], {"id": uuid7(), "organisation": organisation, **told, **how})


async def due(conn: Conn, organisation: UUID, limit: int) -> list[Message]:
    rows = await (await conn.execute(SQL["due"], {"organisation": organisation, "limit": limit})).fetchall()
    return [
        Message(id_, Matter(kind, platform, reason), Raised(count, job_ids, at), now_s)
        for id_, kind, platform, reason, count, job_ids, at, now_s in rows
    ]


async def sent(conn: Conn, organisation: UUID, messages: Sequence[UUID]) -> None:
    await conn.execute(SQL["sent"], {"organisation": organisation, "messages": list(messages)})


async def recent(conn: Conn, organisation: UUID, limit: int) -> list[Known]:
    """What was raised lately, the newest first."""
    cur = conn.cursor(row_factory=class_row(Known))
    await cur.execute(SQL["recent"], {"organisation": organisation, "limit": limit})
    return await cur.fetchall()


async def sweep(conn: Conn, organisation: UUID) -> int:
    """Forget what is too old; returns how many messages were never sent."""
    await conn.execute(SQL["sweep_alerts"], {"organisation": organisation})
    rows = await (await conn.execute(SQL["sweep_messages"], {"organisation": organisation})).fetchall()
    return sum(is_lost for (is_lost,) in rows)
