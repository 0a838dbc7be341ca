"""Entities: records handed over, entities found and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import idempotency
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.entities import moving, queue, store
from leasehold.entities.deciding import Decisions
from leasehold.entities.erasing import Eraser
from leasehold.entities.explaining import Explainer
from leasehold.entities.models import ENTITY, BatchState, Change, Entity, Kept, Letter
from leasehold.entities.problems import BatchUnknown, EpochUnknown, QueueFull, unknown_entity
from leasehold.entities.store import SQL
from leasehold.idempotency import Once
from leasehold.ids import parse
from leasehold.linking import Policy

_RETRY_AFTER_S = 5
# The names the outside knows these numbers by, and what they are summed up from.
_STATS = {
    "linked_by_explicit_id": "linked_explicit_id",
    "linked_by_external_url": "linked_external_url",
    "linked_by_name_metadata": "linked_name_metadata",
    "linked_by_face": "linked_face",
    "entities_created": "entities_created",
    "embeddings_added": "embeddings_added",
    "external_ids_added": "external_ids_added",
    "urls_added": "urls_added",
    "aliases_added": "aliases_added",
    "duplicates_merged": "duplicates_merged",
    "errors": "failed",
}
_OUTCOMES = (
    "unchanged",
    "updated",
    "linked_explicit_id",
    "linked_external_url",
    "linked_name_metadata",
    "linked_face",
    "created",
    "review",
    "conflict",
    "tombstoned",
    "suppressed",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Stats:
    """What the graph has counted."""

    totals: dict[str, int]
    outcomes: dict[str, int]
    by_source: dict[str, dict[str, int]]
    records_seen: int
    queued_bytes: int
    open_reviews: int


def _shown(epoch: Mapping[str, Any]) -> dict[str, UUID]:
    """The entities that stand as examples for what an epoch changes."""
    examples = (epoch["difference"] or {}).get("examples", ())
    return {text: id_ for one in examples for text in one["entities"] if (id_ := parse(ENTITY, text))}


class Entities:
    """All that is done with entities."""

    def __init__(self, db: Database, policies: Mapping[str, Policy], eraser: Eraser) -> None:
        self._db = db
        self._policies = policies
        self.decisions = Decisions(db, policies)
        self.explainer = Explainer(db, policies)
        self.eraser = eraser

    async def submit(self, caller: Caller, items: Sequence[Mapping[str, Any]], once: Once | None) -> UUID:
        """Hand records over. What is wrong with one of them is said in its batch. Raises QueueFull."""
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return UUID(hex=made)
            if await queue.queued_bytes(conn, caller.organisation) > queue.HIGH_WATER:
                raise QueueFull(
                    "More records wait to be written than may. Send the same again a little later.",
                    headers={"Retry-After": str(_RETRY_AFTER_S)},
                )
            batch = await queue.offer(conn, caller.organisation, None, items)
            if once:
                await idempotency.keep(conn, once, batch.hex)
            return batch

    async def batch(self, caller: Caller, batch: UUID) -> BatchState:
        async with self._db.transaction(caller.organisation) as conn:
            found = await queue.batch_state(conn, caller.organisation, batch)
        if found is None:
            raise BatchUnknown("No batch of your organisation has this id.")
        return found

    async def page(
        self, caller: Caller, kind: str | None, q: str | None, after: UUID | None, limit: int
    ) -> list[Entity]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, kind, q, after, limit)

    async def get(self, caller: Caller, entity: UUID) -> tuple[Entity, list[Kept]]:
        """An entity with its records; one that was merged away, as what it became."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await store.get_heir(conn, caller.organisation, entity)
            if found is None:
                raise unknown_entity()
            return found, await store.records_of(conn, caller.organisation, [found.id])

    async def changes(self, caller: Caller, since: int, entity: UUID | None, limit: int) -> list[Change]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.changes(conn, caller.organisation, since, entity, limit)

    async def letters(self, caller: Caller, source: str | None, before: UUID | None, limit: int) -> list[Letter]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.letters(conn, caller.organisation, source, before, limit)

    async def stats(self, caller: Caller) -> Stats:
        given = {"organisation": caller.organisation}
        async with self._db.transaction(caller.organisation) as conn:
            rows = await (await conn.execute(SQL["counts"], given)).fetchall()
            ((open_reviews,),) = await (await conn.execute(SQL["open_reviews"], given)).fetchall()
            waiting = await queue.queued_bytes(conn, caller.organisation)
        totals: dict[str, int] = {}
        by_source: dict[str, dict[str, int]] = {}
        for source, name, count in rows:
            totals[name] = totals.get(name, 0) + count
            if source:
                by_source.setdefault(source, {})[name] = count
        outcomes = {name: totals.get(name, 0) for name in _OUTCOMES}
        named = {outside: totals.get(inside, 0) for outside, inside in _STATS.items()}
        named["linked_by_face"] += totals.get("joined_by_face", 0)
        return Stats(named, outcomes, by_source, sum(outcomes.values()), waiting, open_reviews)

    async def epochs(self, caller: Caller, kind: str | None) -> list[dict[str, Any]]:
        async with self._db.transaction(caller.organisation) as conn:
            cur = await conn.execute(SQL["epochs"], {"organisation": caller.organisation, "kind": kind})
            columns = [column.name for column in cur.description or ()]
            found = [dict(zip(columns, row, strict=True)) for row in await cur.fetchall()]
            # Asked for each time: who is erased is not to live on in what would have changed.
            shown = {text: id_ for one in found for text, id_ in _shown(one).items()}
            given = {"organisation": caller.organisation, "entities": list(shown.values())}
            names = dict(await (await conn.execute(SQL["names"], given)).fetchall())
        return [
            {**one, "names": {text: names[id_] for text, id_ in _shown(one).items() if id_ in names}} for one in found
        ]

    async def propose(self, caller: Caller, kind: str, once: Once | None, *, learned: bool) -> dict[str, Any]:
        """A new set of weights, and what would change with it."""
        number = await moving.propose(self._db, caller.organisation, kind, self._policies, once, learned=learned)
        return await self._epoch(caller, kind, number)

    async def move(self, caller: Caller, kind: str, number: int) -> dict[str, Any]:
        """Put a set of weights into force: the writer compares everything anew, then switches at once."""
        async with self._db.transaction(caller.organisation) as conn:
            if not await moving.begin(conn, caller.organisation, kind, number):
                raise EpochUnknown("There is no such epoch of this kind to move to, or another move is under way.")
        return await self._epoch(caller, kind, number)

    async def _epoch(self, caller: Caller, kind: str, number: int) -> dict[str, Any]:
        (found,) = [one for one in await self.epochs(caller, kind) if one["number"] == number]
        return found
