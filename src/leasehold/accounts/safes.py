"""The sealed secrets of accounts, in either store, as the one sees them who changes their key."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pymongo import AsyncMongoClient, ReadPreference, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.write_concern import WriteConcern

from leasehold.accounts import documents, store
from leasehold.accounts.documents import Document
from leasehold.accounts.models import SealedSecret
from leasehold.accounts.mongo_shelf import reachable
from leasehold.accounts.notes import PREFIX
from leasehold.accounts.placing import Store
from leasehold.accounts.problems import PoolsMoving
from leasehold.accounts.records import FIELD
from leasehold.accounts.store import SQL
from leasehold.db import Conn, Database
from leasehold.ids import show
from leasehold.vault import Place, Sealed, SecretsSealed, Vault

# More than this are not a few that somebody meddled with, and nobody reads a longer list.
_MOST_CLOSED = 1000


class SecretsDamaged(Exception):
    """Some stored secrets are not what was sealed for their place. The message names them and says what to do."""


async def at_rest(conn: Conn) -> Store:
    """The store the pools are in, which stays so until the transaction ends. Raises PoolsMoving.

    A move compares what left with what arrived, byte for byte: nothing may be re-wrapped meanwhile.
    """
    now, moving_to = await store.hold_store(conn)
    if moving_to is not None:
        to = f"Run `leasehold migrate-pools --to {moving_to}` to the end first."
        raise PoolsMoving(f"The accounts are moving to {moving_to}. {to}", store=moving_to)
    return "mongo" if now == "mongo" else "postgres"


@dataclass(frozen=True, slots=True)
class _Row:
    organisation: UUID
    account: UUID
    secret: SealedSecret

    @property
    def place(self) -> Place:
        return Place(self.organisation, self.account, FIELD, self.secret.version)


class _Safe(ABC):
    """Goes through the secrets of a store. What does not open costs the others nothing; it is told of at the end."""

    name: str

    def __init__(self, db: Database) -> None:
        self._db = db
        self._closed: set[UUID] = set()

    @abstractmethod
    async def _older(self, newest: str, limit: int) -> list[_Row]:
        """Some that are not under the newest key, apart from those that do not open."""

    @abstractmethod
    async def _swap(self, conn: Conn, organisation: UUID, pairs: Sequence[tuple[_Row, Sealed]]) -> None:
        """Put each in the place of what was read, if that is still there."""

    async def rewrap(self, vault: Vault, batch: int) -> int:
        rows = await self._older(vault.newest, batch)
        if self._closed and (not rows or len(self._closed) > _MOST_CLOSED):
            raise _damaged(self.name, self._closed)
        pairs: dict[UUID, list[tuple[_Row, Sealed]]] = {}
        for row in rows:
            try:
                made = vault.rewrap(Sealed(row.secret.key_id, row.secret.sealed), row.place)
            except SecretsSealed:
                self._closed.add(row.account)
            else:
                pairs.setdefault(row.organisation, []).append((row, made))
        for organisation, several in pairs.items():
            async with self._db.transaction(organisation) as conn:
                await at_rest(conn)
                await self._swap(conn, organisation, several)
        return len(rows)


def _damaged(name: str, closed: set[UUID]) -> SecretsDamaged:
    shown = ", ".join(show(PREFIX, account) for account in sorted(closed)[:5])
    more = f" and {len(closed) - 5:,} more" if len(closed) > 5 else ""
    return SecretsDamaged(
        f"Of {name}, {len(closed):,} do not open, because what is stored was changed: {shown}{more}."
        " Store their secrets again, then run this again."
    )


class PostgresSafe(_Safe):
    """Rows of `account_secret`, organisation by organisation: the wall stands here, too. Moved accounts keep theirs."""

    name = "accounts in PostgreSQL"

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

    async def _older(self, newest: str, limit: int) -> list[_Row]:
        rows: list[_Row] = []
        for organisation in self._organisations:
            wanted = {"key_id": newest, "closed": list(self._closed), "limit": limit - len(rows)}
            async with self._db.transaction(organisation) as conn:
                cur = await conn.execute(SQL["older"], {"organisation": organisation, **wanted})
                rows += [_Row(organisation, account, SealedSecret(*row)) for account, *row in await cur.fetchall()]
            if len(rows) == limit:
                break
        return rows

    async def _swap(self, conn: Conn, organisation: UUID, pairs: Sequence[tuple[_Row, Sealed]]) -> None:
        await conn.execute(
            SQL["rewrap"],
            {
                "organisation": organisation,
                "accounts": [row.account for row, _ in pairs],
                "versions": [row.secret.version for row, _ in pairs],
                "old_key_ids": [row.secret.key_id for row, _ in pairs],
                "old_sealed": [row.secret.sealed for row, _ in pairs],
                "new_key_ids": [made.key_id for _, made in pairs],
                "new_sealed": [made.blob for _, made in pairs],
            },
        )


class MongoSafe(_Safe):
    """The secrets inside the documents of MongoDB, those of moved accounts included."""

    name = "accounts in MongoDB"

    def __init__(self, db: Database, client: AsyncMongoClient[Document], database: str) -> None:
        super().__init__(db)
        # From the primary, whatever the address says: a copy that lags could show a key as unused that is not.
        home = client.get_database(
            database, write_concern=WriteConcern(w="majority", j=True), read_preference=ReadPreference.PRIMARY
        )
        self._accounts: AsyncCollection[Document] = home["accounts"]

    async def census(self) -> dict[str, int]:
        # The condition is there for the index: without one the whole documents would be read.
        under_a_key = {"$match": {"secret.key_id": {"$gte": ""}}}
        count = {"$group": {"_id": "$secret.key_id", "count": {"$sum": 1}}}
        async with reachable():
            found = await (await self._accounts.aggregate([under_a_key, count])).to_list()
        return {row["_id"]: row["count"] for row in found}

    async def _older(self, newest: str, limit: int) -> list[_Row]:
        where: Document = {"secret.key_id": {"$gte": "", "$ne": newest}}
        if self._closed:
            where["_id"] = {"$nin": list(self._closed)}
        async with reachable():
            found = await self._accounts.find(where, {"organisation": 1, "secret": 1}).limit(limit).to_list()
        return [_Row(document["organisation"], document["_id"], documents.read_secret(document)) for document in found]

    async def _swap(self, _conn: Conn, organisation: UUID, pairs: Sequence[tuple[_Row, Sealed]]) -> None:
        # `rev` stays: it guards changes computed from an account, and none of them is computed from its seal.
        writes = [
            UpdateOne(
                {
                    "_id": row.account,
                    "organisation": organisation,
                    "secret.version": row.secret.version,
                    "secret.key_id": row.secret.key_id,
                    "secret.sealed": row.secret.sealed,
                },
                {"$set": {"secret.key_id": made.key_id, "secret.sealed": made.blob}},
            )
            for row, made in pairs
        ]
        async with reachable():
            await self._accounts.bulk_write(writes, ordered=False)
