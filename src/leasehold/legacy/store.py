"""Old ids and the progress of imports: rows in, dataclasses out."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from leasehold.db import Conn, queries
from leasehold.legacy.models import ImportFailed, Item, Kind, Progress, Tally

SQL = queries("leasehold.legacy")


async def take_turn(conn: Conn, organisation: UUID) -> None:
    await conn.execute(SQL["turn"], {"organisation": organisation})


async def known(conn: Conn, organisation: UUID, kind: Kind, ids: Sequence[str]) -> dict[str, Item]:
    """What these documents have become already, by their old ids."""
    cur = conn.cursor(row_factory=class_row(Item))
    await cur.execute(SQL["known"], {"organisation": organisation, "kind": kind, "legacy_ids": list(ids)})
    return {item.legacy_id: item for item in await cur.fetchall()}


async def items(conn: Conn, organisation: UUID, kind: Kind, after: str, limit: int) -> list[Item]:
    """In the order of their old ids."""
    cur = conn.cursor(row_factory=class_row(Item))
    await cur.execute(SQL["items"], {"organisation": organisation, "kind": kind, "after_id": after, "limit": limit})
    return await cur.fetchall()


async def keep(conn: Conn, organisation: UUID, kind: Kind, new: Sequence[Item]) -> None:
    await conn.execute(
        SQL["keep"],
        {
            "organisation": organisation,
            "kind": kind,
            "legacy_ids": [item.legacy_id for item in new],
            "documents": [item.document for item in new],
            "sites": [item.site for item in new],
            "captures": [item.capture for item in new],
            "events": [item.event for item in new],
            "addresses": [item.addresses for item in new],
            "digests": [item.digest for item in new],
        },
    )


async def progress(conn: Conn, organisation: UUID, source: bytes) -> Progress | None:
    """Where an earlier run of the same import was stopped."""
    cur = conn.cursor(row_factory=dict_row)
    await cur.execute(SQL["progress"], {"organisation": organisation, "source": source})
    row = await cur.fetchone()
    if row is None:
        return None
    tallies = {name: Tally(**counts) for name, counts in row["tallies"].items()}
    return Progress(row["step"], row["phase"], row["position"], row["report_bytes"], tallies)


async def advance(conn: Conn, organisation: UUID, source: bytes, now: Progress) -> None:
    """Note how far it has come, in the transaction that brought it there."""
    row = {
        "organisation": organisation,
        "source": source,
        "phase": now.phase,
        "position": now.position,
        "tallies": Jsonb(now.kept_tallies()),
        "report_bytes": now.report_bytes,
    }
    cur = (
        await conn.execute(SQL["advance"], {**row, "step": now.step})
        if now.step
        else await conn.execute(SQL["begin"], row)
    )
    if cur.rowcount == 0:
        raise ImportFailed("Another import of the same is under way. Let it finish, or stop it and run this again.")
    now.step += 1


async def finish(conn: Conn, organisation: UUID, source: bytes) -> None:
    await conn.execute(SQL["finish"], {"organisation": organisation, "source": source})
