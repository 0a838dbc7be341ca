"""The sealed sessions in either store, as the one sees them who changes their key."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pymongo import AsyncMongoClient

from leasehold.accounts import PREFIX, SecretsDamaged, at_rest, reachable
from leasehold.db import Database
from leasehold.ids import show
from leasehold.leases import PREFIX as LEASE
from leasehold.sessions.mongo import Document, MongoDrawer
from leasehold.sessions.packing import BASE_FIELD, FIELD
from leasehold.sessions.postgres import SQL
from leasehold.vault import Place, Sealed, SecretsSealed, Vault

# They may be large, and are held in memory some at a time.
_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One sealed thing: a version of an account's session, or what a lease started from."""

    organisation: UUID
    is_version: bool
    row: UUID
    number: int
    sealed: Sealed

    @property
    def place(self) -> Place:
        return Place(self.organisation, self.row, FIELD if self.is_version else BASE_FIELD, self.number)

    @property
    def name(self) -> str:
        return show(PREFIX if self.is_version else LEASE, self.row)


class _SessionSafe(ABC):
    name: str

    def __init__(self, db: Database) -> None:
        self._db = db
        self._closed: dict[UUID, str] = {}

    @abstractmethod
    async def census(self) -> dict[str, int]: ...

    @abstractmethod
    async def _older(self, newest: str, limit: int) -> list[_Sheet]: ...

    @abstractmethod
    async def _swap(self, sheet: _Sheet, made: Sealed) -> None:
        """Put it in the place of what was read, if that is still there."""

    async def rewrap(self, vault: Vault, batch: int) -> int:
        found = await self._older(vault.newest, min(batch, _AT_ONCE))
        if self._closed and not found:
            raise SecretsDamaged(
                f"Of {self.name}, {len(self._closed):,} do not open, because what is stored was changed: "
                f"{', '.join(sorted(self._closed.values())[:5])}. Delete those sessions, then run this again."
            )
        async with self._db.pool.connection() as conn:
            await at_rest(conn)
        for sheet in found:
            try:
                made = vault.rewrap(sheet.sealed, sheet.place)
            except SecretsSealed:
                self._closed[sheet.row] = sheet.name
            else:
                await self._swap(sheet, made)
        return len(found)


class PostgresSessionSafe(_SessionSafe):
    """Rows of `session_version` and `session_base`, organisation by organisation."""

    name = "sessions in PostgreSQL"

    def __init__(self, db: Database, organisations: Sequence[UUID]) -> None:
        super().__init__(db)
        self._organisations = organisations

    async def census(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for organisation in self._organisations:
            async with self._db.transaction(organisation) as conn:
                cur = await conn.execute(SQL["census"], {"organisation": organisation})
                found.update(dict(await cur.fetchall()))
        return dict(found)

    async def _older(self, newest: str, limit: int) -> list[_Sheet]:
        for organisation in self._organisations:
            which = {"organisation": organisation, "key_id": newest, "closed": list(self._closed), "limit": limit}
            async with self._db.transaction(organisation) as conn:
                rows = await (await conn.execute(SQL["older"], which)).fetchall()
            if rows:
                return [
                    _Sheet(organisation, kind == "version", row, number, Sealed(key_id, bytes(sealed)))
                    for kind, row, number, key_id, sealed in rows
                ]
        return []

    async def _swap(self, sheet: _Sheet, made: Sealed) -> None:
        statement = SQL["rewrap_version"] if sheet.is_version else SQL["rewrap_base"]
        new = {"key_id": made.key_id, "sealed": made.blob}
        old = {"old_key_id": sheet.sealed.key_id, "before": sheet.sealed.blob}
        which = {"organisation": sheet.organisation, "row": sheet.row, "number": sheet.number}
        async with self._db.transaction(sheet.organisation) as conn:
            await conn.execute(statement, {**which, **new, **old})


class MongoSessionSafe(_SessionSafe):
    """Documents of `session_versions` and `session_bases`."""

    name = "sessions in MongoDB"

    def __init__(self, db: Database, client: AsyncMongoClient[Document], database: str) -> None:
        super().__init__(db)
        self._drawer = MongoDrawer(db, client, database)

    async def census(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        count: list[Document] = [
            {"$match": {"key_id": {"$gte": ""}}},
            {"$group": {"_id": "$key_id", "count": {"$sum": 1}}},
        ]
        async with reachable():
            for collection in self._drawer.sealed:
                rows = await (await collection.aggregate(count)).to_list()
                found.update({row["_id"]: row["count"] for row in rows})
        return dict(found)

    async def _older(self, newest: str, limit: int) -> list[_Sheet]:
        versions, starts = self._drawer.sealed
        older = {"key_id": {"$gte": "", "$ne": newest}}
        closed = list(self._closed)
        async with reachable():
            found = await versions.find({**older, "account": {"$nin": closed}}).limit(limit).to_list()
            bases = await starts.find({**older, "_id": {"$nin": closed}}).limit(limit).to_list() if not found else []
        return [
            *(
                _Sheet(one["organisation"], True, one["account"], one["rev"], Sealed(one["key_id"], one["sealed"]))
                for one in found
            ),
            *(_Sheet(one["organisation"], False, one["_id"], 0, Sealed(one["key_id"], one["sealed"])) for one in bases),
        ]

    async def _swap(self, sheet: _Sheet, made: Sealed) -> None:
        versions, starts = self._drawer.sealed
        same = {"key_id": sheet.sealed.key_id, "sealed": sheet.sealed.blob}
        new = {"$set": {"key_id": made.key_id, "sealed": made.blob}}
        async with reachable():
            if sheet.is_version:
                await versions.update_one({"account": sheet.row, "rev": sheet.number, **same}, new)
            else:
                await starts.update_one({"_id": sheet.row, **same}, new)
