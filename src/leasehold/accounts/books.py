"""The books of leases on accounts, in either store."""

from uuid import UUID

from leasehold.accounts.documents import Document
from leasehold.accounts.mongo_shelf import MongoShelf, reachable
from leasehold.accounts.store import SQL
from leasehold.db import Database
from leasehold.leases import Books, kept_books


async def postgres_books(db: Database, organisation: UUID) -> Books:
    return await kept_books(db, organisation, SQL["books"], SQL["overlaps"])


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
            async for account in self._accounts.find(where, shown, session=session):
                _count(counts, account, ends.get(account["_id"]))
        return Books(**counts, dangling=0)


def _count(counts: dict[str, int], account: Document, ended: Document | None) -> None:
    """Add up one account: the ends in the history, those it carries itself, and its lease."""
    grants = account["fence"] - account["fence_base"]
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
