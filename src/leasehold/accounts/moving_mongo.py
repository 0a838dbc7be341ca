"""MongoDB as one end of a move of the pools."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from bson import Int64
from pymongo import ReplaceOne, UpdateOne

from leasehold.accounts import documents
from leasehold.accounts.documents import Document
from leasehold.accounts.machine import Standing
from leasehold.accounts.mongo_shelf import MongoShelf, reachable
from leasehold.accounts.moving import BATCH, Record

_SAME = (
    "site",
    "username",
    "standing",
    "blocked_reason",
    "priority",
    "consecutive_failures",
    "unclean_ends",
    "on_probation",
    "needs_login",
    "cooling_until",
    "last_leased_at",
    "last_outcome",
    "last_outcome_at",
    "before_penalty",
    "back_at",
    "created_at",
    "updated_at",
)
_LEASE = ("id", "owner", "token", "job_id", "ttl_seconds", "acquired_at", "expires_at")
_END = (
    "resource",
    "site",
    "owner",
    "token",
    "job_id",
    "fence",
    "acquired_at",
    "expires_at",
    "ended_at",
    "how",
    "outcome",
    "reason",
)


class MongoPlace(MongoShelf):
    """The collections `accounts` and `lease_ends`."""

    async def unmoved(self, organisation: UUID) -> int:
        async with reachable():
            return await self._accounts.count_documents({"organisation": organisation, "moved": False})

    async def hand_over(self, organisation: UUID, limit: int) -> None:
        async with reachable():
            where = {"organisation": organisation, "moved": False}
            going = [found["_id"] async for found in self._accounts.find(where, {"_id": 1}).sort("_id", 1).limit(limit)]
            mark = [{"$set": {"moved": True, "free": False, "rev": {"$add": ["$rev", 1]}}}]
            await self._accounts.update_many({"_id": {"$in": going}, "organisation": organisation}, mark)
        await self._carry_all(organisation)

    async def accounts(self, organisation: UUID, *, moved: bool) -> AsyncIterator[Sequence[Record]]:
        async for found in self._pages(self._accounts, {"organisation": organisation, "moved": moved}):
            yield [_record(document) for document in found]

    async def ends(self, organisation: UUID) -> AsyncIterator[Sequence[Record]]:
        await self._carry_all(organisation)
        async for found in self._pages(self._ends, {"organisation": organisation}):
            yield [{"id": document["_id"], **{name: document[name] for name in _END}} for document in found]

    async def _pages(self, collection: Any, where: Document) -> AsyncIterator[list[Document]]:
        after: UUID | None = None
        while True:
            later = {"_id": {"$gt": after}} if after is not None else {}
            async with reachable():
                found = await collection.find({**where, **later}).sort("_id", 1).limit(BATCH).to_list()
            if not found:
                return
            yield found
            after = found[-1]["_id"]

    async def lacks(self, organisation: UUID, ids: Sequence[UUID]) -> set[UUID]:
        where = {"_id": {"$in": list(ids)}, "organisation": organisation, "moved": False}
        async with reachable():
            return set(ids) - {found["_id"] async for found in self._accounts.find(where, {"_id": 1})}

    async def receive(self, organisation: UUID, accounts: Sequence[Record]) -> None:
        writes = [ReplaceOne({"_id": one["id"]}, _document(organisation, one), upsert=True) for one in accounts]
        if writes:
            async with reachable():
                await self._accounts.bulk_write(writes, ordered=False)

    async def receive_ends(self, organisation: UUID, ends: Sequence[Record]) -> None:
        writes = [UpdateOne({"_id": end["id"]}, {"$setOnInsert": _end(organisation, end)}, upsert=True) for end in ends]
        if writes:
            async with reachable():
                await self._ends.bulk_write(writes, ordered=False)

    async def purge(self, organisation: UUID) -> int:
        async with reachable():
            return (await self._accounts.delete_many({"organisation": organisation, "moved": True})).deleted_count


def _record(document: Mapping[str, Any]) -> Record:
    lease = document["lease"]
    return {
        "id": document["_id"],
        **{name: document[name] for name in _SAME},
        "labels": documents.read_labels(document["labels"]),
        "fence": int(document["fence"]),
        "fence_base": int(document["fence_base"]),
        "secret": document["secret"],
        "lease": {name: lease[name] for name in _LEASE} if lease else None,
        **_pointer(document.get("session")),
    }


def _pointer(session: Mapping[str, Any] | None) -> Record:
    at = session or {"rev": 0, "version": 0, "kept": None}
    return {"session_rev": at["rev"], "session_version": at["version"], "has_session": at["kept"] is not None}


def kept_as(account: UUID, rev: int) -> UUID:
    """What the document is called that holds a session which came from elsewhere."""
    return uuid5(account, str(rev))


def _document(organisation: UUID, record: Record) -> Document:
    at_hand = record["lease"] is None and record["cooling_until"] is None
    return {
        "organisation": organisation,
        **{name: record[name] for name in _SAME},
        "labels": documents.labels(record["labels"]),
        "fence": Int64(record["fence"]),
        "fence_base": Int64(record["fence_base"]),
        "secret": record["secret"],
        "lease": record["lease"],
        "session": {
            "rev": record["session_rev"],
            "version": record["session_version"],
            "kept": kept_as(record["id"], record["session_rev"]) if record["has_session"] else None,
        },
        "free": at_hand and record["standing"] == Standing.ACTIVE,
        "ended": [],
        "pending": False,
        "moved": False,
        "rev": Int64(1),
    }


def _end(organisation: UUID, end: Record) -> Document:
    return {"organisation": organisation, **{name: end[name] for name in _END}, "fence": Int64(end["fence"])}
