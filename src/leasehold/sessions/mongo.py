"""Sessions in MongoDB: a version is a document, and which of them is the session stands in that of its account.

So a change is one conditional update of one document, the lease and what was read in its filter. What is written before
that and not pointed at is nothing; it is removed at once, or by its age. The audit is in PostgreSQL, and commits last.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from pymongo import ASCENDING, DESCENDING, AsyncMongoClient, IndexModel
from pymongo.asynchronous.collection import AsyncCollection

from leasehold import audit
from leasehold.accounts import PREFIX, MongoShelf, reachable, unknown_account
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.ids import show, uuid7
from leasehold.sessions.drawer import VERSIONS_KEPT
from leasehold.sessions.models import Change, Listed, Look, Start, Stored, Tenancy
from leasehold.sessions.rows import facts_row, making_row, note_row, read_facts, read_making, read_note

Document = dict[str, Any]

# Longer than any lease can live.
_STARTS_KEPT_S: Final = 7 * 86400
INDEXES = [
    IndexModel([("account", ASCENDING), ("version", DESCENDING), ("rev", DESCENDING)], name="version"),
    IndexModel([("key_id", 1)], name="key"),
]
START_INDEXES = [
    IndexModel([("account", 1)], name="account"),
    IndexModel([("at", 1)], name="age", expireAfterSeconds=_STARTS_KEPT_S),
    IndexModel([("key_id", 1)], name="key"),
]
_LIVE: Document = {"$gt": ["$lease.expires_at", "$$NOW"]}
_POINTER: Document = {"rev": 0, "version": 0, "kept": None}


class MongoDrawer(MongoShelf):
    """The collections `session_versions` and `session_bases`, and the pointer in `accounts`."""

    def __init__(self, db: Database, client: AsyncMongoClient[Document], name: str) -> None:
        super().__init__(client, name)
        self._db = db
        home = self._accounts.database
        concern = self._accounts.write_concern
        self._versions: AsyncCollection[Document] = home.get_collection("session_versions", write_concern=concern)
        self._starts: AsyncCollection[Document] = home.get_collection("session_bases", write_concern=concern)

    @property
    def sealed(self) -> tuple[AsyncCollection[Document], AsyncCollection[Document]]:
        """Where there is something sealed: in versions, and in what leases started from."""
        return self._versions, self._starts

    async def open(self) -> None:
        async with reachable():
            await self._versions.create_indexes(INDEXES)
            await self._starts.create_indexes(START_INDEXES)

    async def look(self, organisation: UUID, account: UUID, lease: UUID | None) -> Look:
        while True:
            found = await self._account(organisation, account)
            pointer = found.get("session") or _POINTER
            stored = await self._stored(pointer["kept"])
            # What it pointed at is gone when somebody was quicker: then it points at something else by now.
            if stored is not None or pointer["kept"] is None:
                break
        held = found["lease"] if lease is not None and found["is_live"] and found["lease"]["id"] == lease else None
        tenancy = Tenancy(held["id"], held["owner"], held["acquired_at"]) if held else None
        return Look(account, found["site"], pointer["rev"], pointer["version"], found["now"], stored, tenancy)

    async def _account(self, organisation: UUID, account: UUID) -> Document:
        where = {"_id": account, "organisation": organisation, "moved": False}
        found = await self._seen(where, {"$unset": ["ended", "secret"]}, limit=1)
        if not found:
            raise unknown_account()
        return found[0]

    async def looks(self, organisation: UUID, accounts: Sequence[UUID]) -> dict[UUID, Look]:
        looks = [await self.look(organisation, account, None) for account in accounts]
        return {look.account: look for look in looks if look.stored is not None}

    async def keep(self, caller: Caller, change: Change, action: str) -> bool:
        kept = uuid7()
        async with self._db.transaction(caller.organisation) as conn, reachable():
            await self._versions.update_one({"_id": kept}, _insert(caller.organisation, change), upsert=True)
            pointer = {"rev": change.rev, "version": change.version, "kept": kept}
            if not await self._point(caller.organisation, change, pointer):
                await self._versions.delete_one({"_id": kept})
                return False
            if change.start is not None and change.lease is not None:
                await self._put_start(caller.organisation, change.account, change.lease, change.start)
            await self._shed(change)
            detail = {"version": change.version, "upload": change.making.upload, **change.making.counts}
            await audit.record(conn, caller, action, show(PREFIX, change.account), detail)
            return True

    async def _point(self, organisation: UUID, change: Change, pointer: Document) -> bool:
        where: Document = {"_id": change.account, "organisation": organisation, "moved": False}
        before = change.rev - 1
        where |= {"session.rev": before} if before else {"$or": [{"session": None}, {"session.rev": 0}]}
        if change.lease is not None:
            where |= {"lease.id": change.lease, "$expr": _LIVE}
        update = [{"$set": {"session": {"$literal": pointer}, "updated_at": "$$NOW"}}]
        return bool((await self._accounts.update_one(where, update)).matched_count)

    async def _shed(self, change: Change) -> None:
        """Of one version only the newest is kept, and of versions the newest ones and those a lease started from."""
        mine = {"account": change.account, "rev": {"$lt": change.rev}}
        await self._versions.delete_many({**mine, "version": change.version})
        used = await self._starts.distinct("version", {"account": change.account})
        old = {"$lte": change.version - VERSIONS_KEPT, "$nin": used}
        await self._versions.delete_many({**mine, "version": old})

    async def forget(self, caller: Caller, look: Look) -> bool:
        where = {"_id": look.account, "organisation": caller.organisation, "moved": False, "session.rev": look.rev}
        gone = {"rev": look.rev + 1, "version": look.version, "kept": None}
        async with self._db.transaction(caller.organisation) as conn, reachable():
            update = [{"$set": {"session": {"$literal": gone}, "updated_at": "$$NOW"}}]
            if not (await self._accounts.update_one(where, update)).matched_count:
                return False
            await self._versions.delete_many({"account": look.account, "rev": {"$lte": look.rev}})
            await audit.record(conn, caller, "session.deleted", show(PREFIX, look.account), {"version": look.version})
            return True

    async def version(self, organisation: UUID, account: UUID, version: int) -> Stored | None:
        where = {"account": account, "organisation": organisation, "version": version}
        async with reachable():
            return _read(await self._versions.find_one(where, sort=[("rev", -1)]))

    async def versions(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Stored]:
        where: Document = {"account": account, "organisation": organisation}
        if before is not None:
            where["version"] = {"$lt": before}
        async with reachable():
            found = self._versions.find(where, {"sealed": 0}).sort([("version", -1), ("rev", -1)]).limit(limit)
            return [stored async for document in found if (stored := _read({**document, "sealed": b""}))]

    async def page(
        self, organisation: UUID, site: str | None, after: tuple[str, str] | None, limit: int
    ) -> list[Listed]:
        where: Document = {"organisation": organisation, "moved": False, "session.kept": {"$type": "binData"}}
        if site is not None:
            where["site"] = site
        if after is not None:
            where["$or"] = [{"site": {"$gt": after[0]}}, {"site": after[0], "username": {"$gt": after[1]}}]
        shown = {"site": 1, "username": 1, "session": 1}
        async with reachable():
            found = await self._accounts.find(where, shown).sort([("site", 1), ("username", 1)]).limit(limit).to_list()
            kept = {"_id": {"$in": [document["session"]["kept"] for document in found]}}
            stored = {one["_id"]: one async for one in self._versions.find(kept, {"sealed": 0})}
        return [
            Listed(
                document["_id"],
                document["site"],
                document["username"],
                document["session"]["version"],
                read_facts(one["facts"]),
                read_making(one["made"]),
                one["made_at"],
            )
            for document in found
            if (one := stored.get(document["session"]["kept"]))
        ]

    async def count(self, _conn: Conn, organisation: UUID, site: str) -> int:
        where = {"organisation": organisation, "site": site, "moved": False, "session.kept": {"$type": "binData"}}
        async with reachable():
            return await self._accounts.count_documents(where)

    async def start(self, organisation: UUID, account: UUID, lease: UUID) -> Start | None:
        async with reachable():
            found = await self._starts.find_one({"_id": lease, "account": account, "organisation": organisation})
        return Start(found["version"], read_note(found["note"]), found["key_id"], found["sealed"]) if found else None

    async def hand_over(self, caller: Caller, account: UUID, lease: UUID | None, start: Start) -> bool:
        async with self._db.transaction(caller.organisation) as conn, reachable():
            if lease is not None:
                await self._put_start(caller.organisation, account, lease, start)
                where = {"_id": account, "organisation": caller.organisation, "moved": False, "lease.id": lease}
                if not await self._accounts.count_documents({**where, "$expr": _LIVE}):
                    return False
            await audit.record(conn, caller, "session.disclosed", show(PREFIX, account), {"version": start.version})
            return True

    async def sweep(self, organisation: UUID) -> None:
        """MongoDB does that by itself, by age."""

    async def _put_start(self, organisation: UUID, account: UUID, lease: UUID, start: Start) -> None:
        document = {
            "organisation": organisation,
            "account": account,
            "version": start.version,
            "note": note_row(start.note),
            "key_id": start.key_id,
            "sealed": start.sealed,
        }
        await self._starts.update_one({"_id": lease}, _stamped(document, "at"), upsert=True)

    async def _stored(self, kept: UUID | None) -> Stored | None:
        if kept is None:
            return None
        async with reachable():
            return _read(await self._versions.find_one({"_id": kept}))


def _insert(organisation: UUID, change: Change) -> list[Document]:
    document = {
        "organisation": organisation,
        "account": change.account,
        "rev": change.rev,
        "version": change.version,
        "key_id": change.key_id,
        "sealed": change.sealed,
        "facts": facts_row(change.facts),
        "made": making_row(change.made),
    }
    if change.made_at is not None:
        return [
            {"$set": {name: {"$literal": value} for name, value in {**document, "made_at": change.made_at}.items()}}
        ]
    return _stamped(document, "made_at")


def _stamped(document: Document, when: str) -> list[Document]:
    """An update to this document, with the time by MongoDB's clock."""
    return [{"$set": {**{name: {"$literal": value} for name, value in document.items()}, when: "$$NOW"}}]


def _read(found: Document | None) -> Stored | None:
    if found is None:
        return None
    return Stored(
        found["rev"],
        found["version"],
        found["key_id"],
        bytes(found["sealed"]),
        read_facts(found["facts"]),
        read_making(found["made"]),
        found["made_at"],
    )
