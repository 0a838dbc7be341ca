"""The books of leases on accounts, in either store."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from pymongo.asynchronous.client_session import AsyncClientSession

from leasehold.accounts.documents import Document
from leasehold.accounts.mongo_shelf import MongoShelf, reachable
from leasehold.accounts.store import SQL
from leasehold.db import Database
from leasehold.leases import Books, Kind, grants_of, kept_books

_AT_ONCE = 1000


async def postgres_books(db: Database, organisation: UUID) -> Books:
    return await kept_books(db, organisation, Kind.ACCOUNT, SQL["books"])


class MongoBooks(MongoShelf):
    """The same out of MongoDB."""

    async def books(self, organisation: UUID) -> Books:
        counts = dict.fromkeys(("grants", "released", "expired", "revoked", "held", "unbalanced", "overlapping"), 0)
        # Of one moment: what goes on meanwhile is in neither the accounts nor the history.
        async with reachable(), self._client.start_session(snapshot=True) as session:
            found = await self._ends.aggregate(_ends(organisation), session=session)
            ends = {row["_id"]: row async for row in found}
            shown = {"fence": 1, "fence_base": 1, "lease": 1, "ended": 1}
            where = {"organisation": organisation, "moved": False}
            some: list[Document] = []
            async for account in self._accounts.find(where, shown, session=session):
                some.append(account)
                if len(some) == _AT_ONCE:
                    await self._count(counts, some, ends, session)
                    some = []
            await self._count(counts, some, ends, session)
        return Books(**counts, dangling=0)

    async def _count(
        self,
        counts: dict[str, int],
        some: Sequence[Document],
        ends: Mapping[UUID, Document],
        session: AsyncClientSession,
    ) -> None:
        """Add up these accounts. What is on its way into the history may stand in both; it counts there."""
        carried = [end["id"] for account in some for end in account["ended"]]
        found = self._ends.find({"_id": {"$in": carried}}, {"_id": 1}, session=session)
        there = {end["_id"] async for end in found} if carried else set()
        for account in some:
            account["ended"] = [end for end in account["ended"] if end["id"] not in there]
            _count(counts, account, ends.get(account["_id"]))


def _count(counts: dict[str, int], account: Document, ended: Document | None) -> None:
    """Add up one account: the ends in the history, those it carries itself, and its lease."""
    grants = grants_of(account["fence"]) - account["fence_base"]
    carried, held = account["ended"], account["lease"] is not None
    for how in ("released", "expired", "revoked"):
        counts[how] += (ended[how] if ended else 0) + sum(end["how"] == how for end in carried)
    counts["grants"] += grants
    counts["held"] += held
    counts["unbalanced"] += grants != held + len(carried) + (ended["ends"] if ended else 0)
    counts["overlapping"] += ended["overlapping"] if ended else 0
    last = ended["last"] if ended else None
    for next_ in [*carried, *([account["lease"]] if held else [])]:
        counts["overlapping"] += last is not None and next_["acquired_at"] < last
        last = next_.get("ended_at")


def _ends(organisation: UUID) -> list[Document]:
    hows = {how: {"$sum": {"$cond": [{"$eq": ["$how", how]}, 1, 0]}} for how in ("released", "expired", "revoked")}
    before = {
        "before": {"$shift": {"output": "$ended_at", "by": -1}},
    }
    return [
        {"$match": {"organisation": organisation}},
        {"$setWindowFields": {"partitionBy": "$resource", "sortBy": {"fence": 1}, "output": before}},
        {
            "$group": {
                "_id": "$resource",
                "ends": {"$sum": 1},
                **hows,
                "last": {"$max": "$ended_at"},
                "overlapping": {"$sum": {"$cond": [{"$lt": ["$acquired_at", "$before"]}, 1, 0]}},
            }
        },
    ]
