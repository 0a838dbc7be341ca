"""PostgreSQL as one end of a move of the pools."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row, scalar_row
from psycopg.types.json import Jsonb

from leasehold.accounts.moving import BATCH, Record
from leasehold.accounts.store import SQL
from leasehold.db import Database

_LEASE = ("lease_id", "owner", "token", "job_id", "ttl_seconds", "acquired_at", "expires_at")


class PostgresPlace:
    """The tables `account`, `account_secret`, `lease` and `lease_end`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def unmoved(self, organisation: UUID) -> int:
        async with self._db.transaction(organisation) as conn:
            cur = conn.cursor(row_factory=scalar_row)
            await cur.execute(SQL["unmoved"], {"organisation": organisation})
            return int(await cur.fetchone() or 0)

    async def hand_over(self, organisation: UUID, limit: int) -> None:
        async with self._db.transaction(organisation) as conn:
            cur = conn.cursor(row_factory=scalar_row)
            await cur.execute(SQL["hand_over"], {"organisation": organisation, "limit": limit})
            gone = await cur.fetchall()
            await conn.execute(SQL["hand_over_leases"], {"organisation": organisation, "ids": gone})

    async def accounts(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        async for rows in self._pages("handed_over", organisation, moved=moved):
            yield [_record(row) for row in rows]

    async def ends(self, organisation: UUID) -> AsyncIterator[Sequence[Record]]:
        async for rows in self._pages("ends", organisation):
            yield rows

    async def _pages(self, name: str, organisation: UUID, **more: Any) -> AsyncIterator[list[dict[str, Any]]]:
        after: UUID | None = None
        statements = {"handed_over": SQL["handed_over"], "ends": SQL["ends"]}
        while True:
            async with self._db.transaction(organisation) as conn:
                cur = conn.cursor(row_factory=dict_row)
                which = {"organisation": organisation, "after": after, "limit": BATCH, **more}
                await cur.execute(statements[name], which)
                rows = await cur.fetchall()
            if not rows:
                return
            yield rows
            after = rows[-1]["id"]

    async def lacks(self, organisation: UUID, ids: Sequence[UUID]) -> set[UUID]:
        async with self._db.transaction(organisation) as conn:
            cur = conn.cursor(row_factory=scalar_row)
            await cur.execute(SQL["arrived"], {"organisation": organisation, "ids": list(ids)})
            return set(ids) - set(await cur.fetchall())

    async def receive(self, organisation: UUID, accounts: Sequence[Record]) -> None:
        async with self._db.transaction(organisation) as conn:
            for record in accounts:
                row = {"organisation": organisation, **_row(record)}
                await conn.execute(SQL["drop_lease"], row)
                await conn.execute(SQL["receive"], row)
                await conn.execute(SQL["put_secret"], {**row, "account": record["id"]})
                if record["lease"] is not None:
                    await conn.execute(SQL["receive_lease"], row)

    async def receive_ends(self, organisation: UUID, ends: Sequence[Record]) -> None:
        async with self._db.transaction(organisation) as conn:
            for end in ends:
                await conn.execute(SQL["receive_end"], {"organisation": organisation, **end})

    async def purge(self, organisation: UUID) -> int:
        async with self._db.transaction(organisation) as conn:
            await conn.execute(SQL["purge_leases"], {"organisation": organisation})
            cur = await conn.execute(SQL["purge"], {"organisation": organisation})
            return cur.rowcount


def _record(row: dict[str, Any]) -> Record:
    lease = {name: row.pop(name) for name in _LEASE}
    secret = {name: row.pop(name) for name in ("version", "key_id", "sealed")}
    lease["id"] = lease.pop("lease_id")
    return {**row, "secret": secret, "lease": lease if lease["id"] is not None else None}


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    lease = record["lease"] or dict.fromkeys(("id", *_LEASE[1:]))
    penalty = record["before_penalty"]
    return {
        **record,
        **record["secret"],
        **{name: lease[name] for name in _LEASE[1:]},
        "lease_id": lease["id"],
        "labels": Jsonb(record["labels"]),
        "before_penalty": None if penalty is None else Jsonb(penalty),
    }
