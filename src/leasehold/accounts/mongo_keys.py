"""Keys of grants in MongoDB: what a request was granted that died before PostgreSQL knew of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from leasehold import idempotency
from leasehold.accounts.documents import Document
from leasehold.accounts.models import Ask
from leasehold.accounts.mongo_ends import Books, MongoEnds
from leasehold.db import Conn
from leasehold.idempotency import Once
from leasehold.problems import IdempotencyMismatch, Problem

# As long as PostgreSQL knows a key.
_KEPT_FOR_MS = 24 * 60 * 60 * 1000
_MISMATCH = "This Idempotency-Key was used with another body in the last 24 hours."


@dataclass(slots=True)
class _Traces:
    """What is left of the grants under one key."""

    live: list[UUID] = field(default_factory=list)
    over: list[UUID] = field(default_factory=list)
    digests: set[bytes] = field(default_factory=set)


class MongoKeys(MongoEnds):
    """The part of the MongoDB pool that knows a key again."""

    async def _look_at_keys(self, conn: Conn, work: Books) -> bool:
        """Take over what a request was granted that died before it could note it under its key.

        Returns whether there was any. Not before the keys are ours: until then their holder may be granting.
        """
        asks = {mark(ask.once): ask for ask in work.batch.asks if ask.once and ask.once not in work.repeats}
        if not asks:
            return False
        noted: dict[Once, str] = {}
        found = await self._traces(work.organisation, list(asks))
        for marked, traces in found.items():
            ask = asks[marked]
            made = await self._made(work.organisation, ask, traces)
            if ask.once and made:
                work.repeats[ask.once] = made
                noted |= {ask.once: made} if isinstance(made, str) else {}
        if noted:
            await idempotency.keep_many(conn, work.organisation, noted)
        return bool(found)

    async def _made(self, organisation: UUID, ask: Ask, traces: _Traces) -> str | Problem | None:
        """What the key stands for; nothing, if it has to be served as if it had never come."""
        if ask.once and traces.digests != {ask.once.body_digest}:
            return IdempotencyMismatch(_MISMATCH)
        if traces.over:
            # Some of it ran out: who repeats it is told so, and the rest is nobody's.
            await self._give_back(organisation, traces.live)
            return _listed(traces.over)
        # If it died in the middle, half of what was asked for is nothing.
        if len(traces.live) == ask.count and await self._adopt(organisation, traces.live):
            return _listed(traces.live)
        await self._give_back(organisation, traces.live)
        return None

    async def _traces(self, organisation: UUID, marks: Sequence[bytes]) -> Mapping[bytes, _Traces]:
        found: dict[bytes, _Traces] = {}
        carried = {"$or": [{"lease.once": {"$in": marks}}, {"ended.once": {"$in": marks}}]}
        where = {"organisation": organisation, "moved": False, **carried}
        for document in await self._seen(where, *_under_keys(organisation, marks, self._ends.name)):
            for lease in document["leases"]:
                traces = found.setdefault(lease["once"], _Traces())
                (traces.live if lease["is_live"] else traces.over).append(lease["id"])
                traces.digests.add(lease["digest"])
        return found

    async def _adopt(self, organisation: UUID, granted: Sequence[UUID]) -> bool:
        """Keep leases from being undone by whoever granted them, should it only have been asleep."""
        where = {"organisation": organisation, "lease.id": {"$in": list(granted)}, "moved": False}
        adopted = await self._accounts.update_many(where, {"$set": {"lease.adopted": True}, "$inc": {"rev": 1}})
        return adopted.matched_count == len(granted)


def mark(once: Once) -> bytes:
    """A key as it stands beside what it was granted."""
    whole = f"{once.token.hex} {once.route} {once.key}".encode()
    return hashlib.blake2b(whole, digest_size=16).digest()


def _listed(leases: Sequence[UUID]) -> str:
    return " ".join(lease.hex for lease in leases)


def _under_keys(organisation: UUID, marks: Sequence[bytes], ends: str) -> list[Document]:
    """Of the accounts found, and after them of the history, the leases under these keys.

    In this order: what is carried from the ones into the other meanwhile is found at least once.
    """
    ours = {"$filter": {"input": "$ended", "cond": {"$in": ["$$this.once", marks]}}}
    held = [_trace("$lease", "$is_live")]
    carried = {"$map": {"input": ours, "in": _trace("$$this", is_live=False)}}
    recent = {"$gt": ["$ended_at", {"$subtract": ["$$NOW", _KEPT_FOR_MS]}]}
    past = [
        {"$match": {"organisation": organisation, "once": {"$in": marks}, "$expr": recent}},
        {"$project": {"leases": [{**_trace("$$ROOT", is_live=False), "id": "$_id"}]}},
    ]
    both = {"$concatArrays": [{"$cond": [{"$in": ["$lease.once", marks]}, held, []]}, carried]}
    return [{"$project": {"leases": both}}, {"$unionWith": {"coll": ends, "pipeline": past}}]


def _trace(of: str, is_live: str | bool) -> Document:
    return {**{name: f"{of}.{name}" for name in ("id", "once", "digest")}, "is_live": is_live}
