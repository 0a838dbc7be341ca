"""Sessions move along with their accounts: after those were handed over nobody changes them, so they are copied as they
are, sealed. Done twice it is done once; counts and checksums are compared at the end.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, Protocol
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from pymongo import ReplaceOne

from leasehold.accounts import MoveFailed, Sum, kept_as, reachable
from leasehold.db import Database
from leasehold.sessions.mongo import Document, MongoDrawer
from leasehold.sessions.postgres import SQL

_BATCH: Final = 50  # they may be large

Record = dict[str, Any]
_VERSION: Final = ("account", "rev", "version", "key_id", "sealed", "facts", "made", "made_at")
_BASE: Final = ("account", "version", "note", "key_id", "sealed", "at")


class Shelf(Protocol):
    """A store as one end of a move."""

    def all_versions(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]: ...

    def all_bases(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]: ...

    async def make_room(self, organisation: UUID) -> None:
        """Forget what an earlier stay left here, or a move that was cut short."""

    async def receive(self, organisation: UUID, versions: Sequence[Record]) -> None: ...

    async def receive_bases(self, organisation: UUID, bases: Sequence[Record]) -> None: ...


async def carry(source: Shelf, target: Shelf, organisation: UUID, say: Callable[[str], None]) -> Sum:
    """Bring the sessions of one organisation over; raises MoveFailed when what arrived is not what left."""
    await target.make_room(organisation)
    there = 0
    async for versions in source.all_versions(organisation, moved=True):
        await target.receive(organisation, versions)
        there += len(versions)
        say(f"{there:,} versions of sessions there")
    async for bases in source.all_bases(organisation, moved=True):
        await target.receive_bases(organisation, bases)
    left, arrived = await _sum(source, organisation, moved=True), await _sum(target, organisation, moved=False)
    if left != arrived:
        raise MoveFailed(f"Of the sessions, {left} left and {arrived} arrived. Nothing was flipped; run it again.")
    return arrived


async def _sum(shelf: Shelf, organisation: UUID, *, moved: bool) -> Sum:
    total = Sum()
    async for versions in shelf.all_versions(organisation, moved=moved):
        for version in versions:
            total.add(version)
    return total


class PostgresShelf:
    """The tables `session_version` and `session_base`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def all_versions(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        after: tuple[UUID | None, int | None] = (None, None)
        while True:
            place = {"after": after[0], "after_rev": after[1]}
            async with self._db.transaction(organisation) as conn:
                cur = conn.cursor(row_factory=dict_row)
                which = {"organisation": organisation, "moved": moved, **place, "limit": _BATCH}
                await cur.execute(SQL["pages"], which)
                rows = await cur.fetchall()
            if not rows:
                return
            yield rows
            after = rows[-1]["account"], rows[-1]["rev"]

    async def all_bases(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        after: UUID | None = None
        while True:
            async with self._db.transaction(organisation) as conn:
                cur = conn.cursor(row_factory=dict_row)
                which = {"organisation": organisation, "moved": moved, "after": after, "limit": _BATCH}
                await cur.execute(SQL["base_pages"], which)
                rows = await cur.fetchall()
            if not rows:
                return
            yield rows
            after = rows[-1]["lease"]

    async def make_room(self, organisation: UUID) -> None:
        async with self._db.transaction(organisation) as conn:
            await conn.execute(SQL["forget_versions"], {"organisation": organisation})
            await conn.execute(SQL["forget_bases"], {"organisation": organisation})

    async def receive(self, organisation: UUID, versions: Sequence[Record]) -> None:
        async with self._db.transaction(organisation) as conn:
            for one in versions:
                told = {"facts": Jsonb(one["facts"]), "made": Jsonb(one["made"])}
                await conn.execute(SQL["receive_version"], {"organisation": organisation, **one, **told})

    async def receive_bases(self, organisation: UUID, bases: Sequence[Record]) -> None:
        async with self._db.transaction(organisation) as conn:
            for one in bases:
                row = {"organisation": organisation, **one, "note": Jsonb(one["note"])}
                await conn.execute(SQL["receive_base"], row)


class MongoShelf(MongoDrawer):
    """The collections `session_versions` and `session_bases`."""

    async def all_versions(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        async for accounts in self._accounts_with(organisation, moved=moved):
            for account in accounts:
                async with reachable():
                    found = await self._versions.find({"account": account}).sort("rev", 1).to_list()
                if found:
                    yield [{name: one[name] for name in _VERSION} for one in found]

    async def all_bases(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        async for accounts in self._accounts_with(organisation, moved=moved):
            async with reachable():
                found = await self._starts.find({"account": {"$in": accounts}}).to_list()
            if found:
                yield [{"lease": one["_id"], **{name: one[name] for name in _BASE}} for one in found]

    async def _accounts_with(self, organisation: UUID, *, moved: bool) -> AsyncIterator[list[UUID]]:
        after: UUID | None = None
        while True:
            where: Document = {"organisation": organisation, "moved": moved, "session.rev": {"$gte": 1}}
            if after is not None:
                where["_id"] = {"$gt": after}
            async with reachable():
                found = await self._accounts.find(where, {"_id": 1}).sort("_id", 1).limit(_BATCH).to_list()
            if not found:
                return
            yield [one["_id"] for one in found]
            after = found[-1]["_id"]

    async def make_room(self, organisation: UUID) -> None:
        async with reachable():
            for collection in self.sealed:
                await collection.delete_many({"organisation": organisation})

    async def receive(self, organisation: UUID, versions: Sequence[Record]) -> None:
        writes = [
            ReplaceOne({"_id": kept_as(one["account"], one["rev"])}, {"organisation": organisation, **one}, upsert=True)
            for one in versions
        ]
        async with reachable():
            await self._versions.bulk_write(writes, ordered=False)

    async def receive_bases(self, organisation: UUID, bases: Sequence[Record]) -> None:
        writes = [
            ReplaceOne(
                {"_id": one["lease"]},
                {"organisation": organisation, **{name: one[name] for name in _BASE}},
                upsert=True,
            )
            for one in bases
        ]
        async with reachable():
            await self._starts.bulk_write(writes, ordered=False)
