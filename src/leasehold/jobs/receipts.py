"""Receipts in PostgreSQL: what was accepted, what of it is written, and what was seen before."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from leasehold.db import Conn
from leasehold.jobs.models import Receipt
from leasehold.jobs.store import SQL, planned
from leasehold.platforms import Phase
from leasehold.writers import Chunk, Name


async def known(conn: Conn, organisation: UUID, names: Sequence[Name]) -> dict[Name, bytes]:
    """What came under these cursors before, by its digest."""
    if not names:
        return {}
    rows = await (await planned(conn, SQL["known"], {"organisation": organisation, **_named(names)})).fetchall()
    return {(task, key): sha256 for task, key, sha256 in rows}


async def seen(conn: Conn, organisation: UUID, identities: Sequence[tuple[UUID, bytes]]) -> set[tuple[UUID, bytes]]:
    """Which documents came before."""
    if not identities:
        return set()
    given = {"tasks": [task for task, _ in identities], "identities": [identity for _, identity in identities]}
    rows = await (await planned(conn, SQL["seen_before"], {"organisation": organisation, **given})).fetchall()
    return {(task, identity) for task, identity in rows}


async def see(conn: Conn, organisation: UUID, identities: Sequence[tuple[UUID, bytes]]) -> None:
    if identities:
        given = {"tasks": [task for task, _ in identities], "identities": [identity for _, identity in identities]}
        await conn.execute(SQL["see"], {"organisation": organisation, **given})


async def receive(conn: Conn, organisation: UUID, receipts: Sequence[Receipt]) -> dict[Name, int]:
    """Keep them; the numbers they got."""
    if not receipts:
        return {}
    given = {
        "tasks": [one.task for one in receipts],
        "marks": [one.key for one in receipts],
        "cursors": [one.cursor for one in receipts],
        "attempts": [one.attempt for one in receipts],
        "fences": [one.fence for one in receipts],
        "digests": [one.sha256 for one in receipts],
        "counts": [len(one.documents) for one in receipts],
        "chunks": [one.chunk if one.is_needed_later else None for one in receipts],
        "lates": [one.late for one in receipts],
        "written": [one.is_written for one in receipts],
        "shadows": [one.shadow_due for one in receipts],
    }
    cur = await planned(conn, SQL["receive"], {"organisation": organisation, **given})
    return {(task, key): number for task, key, number in await cur.fetchall()}


async def with_unwritten(conn: Conn, organisation: UUID, platforms: Iterable[str]) -> list[tuple[str, bool, bool]]:
    """Platforms, and whether something there waits for its writer, or for the shadow's."""
    given = {"organisation": organisation, "platforms": list(platforms)}
    rows = await (await conn.execute(SQL["with_unwritten"], given)).fetchall()
    return [(platform, unwritten, unshadowed) for platform, unwritten, unshadowed in rows if unwritten or unshadowed]


async def is_our_turn(conn: Conn, organisation: UUID, platform: str) -> bool:
    given = {"organisation": organisation, "platform": platform}
    row = await (await conn.execute(SQL["writers_turn"], given)).fetchone()
    return bool(row and row[0])


async def unwritten(conn: Conn, organisation: UUID, platform: str, patience_s: int, limit: int) -> list[Chunk]:
    given = {"organisation": organisation, "platform": platform, "patience_s": patience_s, "limit": limit}
    return [_chunk(row) for row in await (await planned(conn, SQL["unwritten"], given)).fetchall()]


async def unwritten_counts(conn: Conn, organisation: UUID) -> dict[str, int]:
    return dict(await (await conn.execute(SQL["unwritten_counts"], {"organisation": organisation})).fetchall())


async def unshadowed(conn: Conn, organisation: UUID, platform: str, limit: int) -> list[Chunk]:
    given = {"organisation": organisation, "platform": platform, "limit": limit}
    return [_chunk(row) for row in await (await planned(conn, SQL["unshadowed"], given)).fetchall()]


def _chunk(row: Sequence[Any]) -> Chunk:
    # Read as it came in: numbers that are too large for others are floats to both.
    task, job, platform, key, number, attempt, chunk, *entry = row
    return Chunk(task, job, platform, key, number, attempt, orjson.loads(chunk), *entry)


async def streamed(conn: Conn, organisation: UUID, entries: Mapping[Name, str]) -> None:
    """These lie in the stream now, each as an entry of it."""
    given = {**_named(list(entries)), "entries": list(entries.values())}
    await planned(conn, SQL["streamed"], {"organisation": organisation, **given})


async def confirm(conn: Conn, organisation: UUID, names: Sequence[Name]) -> dict[Name, float]:
    """Those of them that nobody had confirmed before, and how long each had been waiting."""
    rows = await (await planned(conn, SQL["confirm"], {"organisation": organisation, **_named(names)})).fetchall()
    return {(task, key): lag_s for task, key, lag_s in rows}


async def chunks_of(conn: Conn, organisation: UUID, names: Sequence[Name]) -> dict[Name, tuple[Any, Any]]:
    """The cursor and the documents of each."""
    rows = await (await planned(conn, SQL["chunks_of"], {"organisation": organisation, **_named(names)})).fetchall()
    return {(task, key): (cursor, orjson.loads(chunk)) for task, key, cursor, chunk in rows}


async def shadowed(conn: Conn, organisation: UUID, names: Sequence[Name]) -> None:
    await planned(conn, SQL["shadowed"], {"organisation": organisation, **_named(names)})


async def phases(conn: Conn, organisation: UUID) -> dict[str, Phase]:
    rows = await (await conn.execute(SQL["phases"], {"organisation": organisation})).fetchall()
    return {platform: Phase(phase) for platform, phase in rows}


@dataclass(frozen=True, slots=True)
class Compared:
    """A chunk that should be in two places."""

    number: int
    task: UUID
    job: str
    key: bytes
    cursor: Any
    received_at: datetime
    is_settled: bool  # every writer is done with it


async def to_compare(
    conn: Conn, organisation: UUID, platform: str, since: datetime | None, after: int, limit: int
) -> list[Compared]:
    given = {"organisation": organisation, "platform": platform, "since": since, "after": after, "limit": limit}
    return [Compared(*row) for row in await (await planned(conn, SQL["to_compare"], given)).fetchall()]


async def shadow_again(conn: Conn, organisation: UUID, chunks: Mapping[Name, Sequence[Any]]) -> None:
    """Have these written to the shadow once more."""
    texts = [orjson.dumps(documents).decode() for documents in chunks.values()]
    given = {"organisation": organisation, **_named(list(chunks)), "chunks": texts}
    await planned(conn, SQL["shadow_again"], given)


async def set_phase(
    conn: Conn, organisation: UUID, platform: str, phase: Phase, by_name: str, reason: str | None
) -> None:
    given = {"platform": platform, "to_phase": phase, "by_name": by_name, "reason": reason}
    await conn.execute(SQL["set_phase"], {"organisation": organisation, **given})


def _named(names: Sequence[Name]) -> Mapping[str, Any]:
    return {"tasks": [task for task, _ in names], "marks": [key for _, key in names]}
