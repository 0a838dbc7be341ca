"""Results in PostgreSQL, beside the receipts: what is accepted and what is written is one transaction."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson

from leasehold.db import Conn, Database, queries
from leasehold.writers.models import Chunk, Document, Found, Name, Place, Refusals, Space

SQL = queries("leasehold.writers")


class PostgresTarget:
    """The table `result`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def open(self) -> None:
        """The pool is opened by who made it."""

    async def close(self) -> None:
        """And closed."""

    async def write(self, organisation: UUID, space: Space, chunks: Sequence[Chunk]) -> Refusals:
        async with self._db.transaction(organisation) as conn:
            await write_in(conn, organisation, space, chunks)
        return {}

    async def read(
        self, organisation: UUID, space: Space, places: Sequence[Place], after: tuple[int, int] | None, limit: int
    ) -> list[Found]:
        whose = {place.task: place.platform for place in places}
        place = {"after": after[0] if after else None, "after_place": after[1] if after else None}
        wanted = {"organisation": organisation, "space": space, "tasks": list(whose), **place, "limit": limit}
        async with self._db.transaction(organisation) as conn:
            rows = await (await conn.execute(SQL["read"], wanted)).fetchall()
        return [Found(whose[task], *row) for task, *row in rows]

    async def documents(
        self, organisation: UUID, space: Space, places: Sequence[Place]
    ) -> dict[UUID, list[dict[str, Any]]]:
        wanted = {"organisation": organisation, "space": space, "tasks": [place.task for place in places]}
        found: dict[UUID, list[dict[str, Any]]] = {}
        async with self._db.transaction(organisation) as conn:
            for task, document in await (await conn.execute(SQL["documents"], wanted)).fetchall():
                found.setdefault(task, []).append(document)
        return found

    async def chunks(
        self, organisation: UUID, space: Space, names: Sequence[tuple[Place, bytes]]
    ) -> dict[Name, list[Document]]:
        given = {"tasks": [place.task for place, _ in names], "marks": [key for _, key in names]}
        async with self._db.transaction(organisation) as conn:
            cur = await conn.execute(SQL["chunks"], {"organisation": organisation, "space": space, **given})
            found: dict[Name, list[Document]] = {}
            for task, key, document in await cur.fetchall():
                found.setdefault((task, key), []).append(document)
        return found


async def write_in(conn: Conn, organisation: UUID, space: Space, chunks: Sequence[Chunk]) -> None:
    """Write within a transaction of somebody's."""
    if not chunks:
        return
    given = {
        "tasks": [chunk.task for chunk in chunks],
        "marks": [chunk.key for chunk in chunks],
        "numbers": [chunk.number for chunk in chunks],
        "chunks": [orjson.dumps(chunk.documents).decode() for chunk in chunks],
    }
    await conn.execute(SQL["write"], {"organisation": organisation, "space": space, **given})
