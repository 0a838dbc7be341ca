"""The gate of a site with a cap, in MongoDB: who may take accounts there is decided by one update of one document.

Who is let in gets seats for a few seconds, long enough to take its accounts; seats and leases together never pass the
cap. No lock is held meanwhile: a process that stops or dies in the gate leaves seats behind that lapse by themselves,
and a grant that comes after its seat has lapsed changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pymongo import ReturnDocument
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.write_concern import WriteConcern

from leasehold.accounts.documents import Document

_SEAT_S = 8.0
# A grant begins so long before its seats lapse, and may take so long: then it is done, or nothing, when they do.
_BEFORE_S = 3.0
GRANT_S = 2.0
# How often one starts again because somebody else went through at the same moment.
_TRIES = 10

_TAKEN: Document = {"$filter": {"input": "$seats", "cond": {"$gt": ["$$this.until", "$$NOW"]}}}


@dataclass(frozen=True, slots=True)
class Entry:
    """Who was let in: its seats, until when they may be used, and how many others were there before."""

    leases: list[UUID]
    others: int
    use_by: datetime | None

    @property
    def condition(self) -> Document:
        """Goes with every grant on these seats, judged by the server's clock."""
        return {"$expr": {"$lt": ["$$NOW", self.use_by]}}


class Gate:
    """The one way to the accounts of a site with a cap."""

    def __init__(
        self, gates: AsyncCollection[Document], accounts: AsyncCollection[Document], organisation: UUID, site: str
    ) -> None:
        self._gates = gates
        self._accounts = accounts
        self._id = {"organisation": organisation, "site": site}
        self._held: Document = {"organisation": organisation, "site": site, "lease.id": {"$exists": True}}

    async def enter(self, cap: int, parties: Sequence[Sequence[UUID]]) -> Entry:
        """Let in who fits, in this order, each party whole or not at all; a party is the leases it is to have."""
        for _ in range(_TRIES):
            rev, seats = await self._look()
            # After the gate: a grant on a seat that has lapsed by now is seen here.
            others = len(seats | await self._leases())
            room = cap - others
            leases: list[UUID] = []
            for party in parties:
                if len(party) <= room:
                    room -= len(party)
                    leases += party
            if not leases:
                return Entry([], others, None)
            if taken := await self._take(rev, leases):
                return Entry(leases, others, taken - timedelta(seconds=_BEFORE_S))
        return Entry([], cap, None)

    async def leave(self, entry: Entry) -> None:
        """Give the seats up: their leases are there, or will never be. Not waited for; lost, they lapse."""
        if entry.leases:
            gates = self._gates.with_options(write_concern=WriteConcern(w=1))
            await gates.update_one({"_id": self._id}, {"$pull": {"seats": {"lease": {"$in": entry.leases}}}})

    async def _look(self) -> tuple[int, set[UUID]]:
        """What the gate is at, and whose seats there are."""
        cursor = await self._gates.aggregate([{"$match": {"_id": self._id}}, {"$set": {"seats": _TAKEN}}])
        found = await cursor.to_list()
        if not found:
            await self._gates.update_one({"_id": self._id}, {"$setOnInsert": {"rev": 0, "seats": []}}, upsert=True)
            return 0, set()
        return found[0]["rev"], {seat["lease"] for seat in found[0]["seats"]}

    async def _leases(self) -> set[UUID]:
        """Those at the site. One that looks run out counts until it is settled: it may have been renewed just now."""
        return {document["lease"]["id"] async for document in self._accounts.find(self._held, {"lease.id": 1})}

    async def _take(self, rev: int, leases: Sequence[UUID]) -> datetime | None:
        """Take seats if nobody went through since we looked; tells when they lapse."""
        until = {"$add": ["$$NOW", int(_SEAT_S * 1000)]}
        seats = {"$concatArrays": [_TAKEN, [{"lease": lease, "until": until} for lease in leases]]}
        taken = await self._gates.find_one_and_update(
            {"_id": self._id, "rev": rev},
            [{"$set": {"rev": rev + 1, "seats": seats}}],
            return_document=ReturnDocument.AFTER,
        )
        return max(seat["until"] for seat in taken["seats"] if seat["lease"] in leases) if taken else None
