"""What people say of records: two are one, or are not. It lasts, and the graph is solved with it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from uuid import UUID

from leasehold import audit
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.entities import epochs, store
from leasehold.entities.edges import pair
from leasehold.entities.memory import Memory
from leasehold.entities.models import ENTITY, RECORD, Entity, Kept, Pair
from leasehold.entities.problems import CannotMerge, CannotSplit, ReviewUnknown, unknown_entity
from leasehold.entities.settling import Fresh, settle
from leasehold.entities.solving import Preferred, solved
from leasehold.entities.store import SQL
from leasehold.ids import show
from leasehold.linking import Policy

MOST_APART = 20_000


@dataclass(frozen=True, slots=True)
class Decided:
    """A pair somebody spoke of, and the entities its records are in by now."""

    decision: str
    entities: tuple[UUID, UUID]


class Decisions:
    """People's word, carried out at once, in one order with the writer's batches.

    Who names an entity that was merged away means what it became.
    """

    def __init__(self, db: Database, policies: Mapping[str, Policy]) -> None:
        self._db = db
        self._policies = policies

    async def merge(self, caller: Caller, keep: UUID, merge: UUID) -> Entity:
        """Make one of two; the first stays. All their records are one thing from now on."""
        async with self._db.transaction(caller.organisation) as conn:
            await wait_for_writer(conn, caller.organisation)
            keep, merge = [(await self._get(conn, caller.organisation, one)).id for one in (keep, merge)]
            if keep == merge:
                raise CannotMerge("These are one entity, which cannot be merged with itself. Name two.")
            kept, merged = [await self._records(conn, caller.organisation, one) for one in (keep, merge)]
            if kept[0].kind != merged[0].kind:
                raise CannotMerge(
                    f"One is a {kept[0].kind}, the other a {merged[0].kind}; only one kind can be one thing."
                )
            left, right = [record.node for record in kept], [record.node for record in merged]
            # Somebody may have said before that they are apart.
            await self._forget(conn, caller, [pair(a, b) for a, b in product(left, right)])
            first = min(*left, *right)
            await self._say(conn, caller, [pair(first, node) for node in (*left, *right) if node != first], "same")
            await self._solve(conn, caller, kept[0].kind, [*left, *right], (keep, left[0]))
            told = {"merged": show(ENTITY, merge), "records": len(right)}
            await audit.record(conn, caller, "entity.merged", show(ENTITY, keep), told)
            return await self._get(conn, caller.organisation, keep)

    async def split(self, caller: Caller, entity: UUID, records: Sequence[UUID]) -> list[Entity]:
        """Take records out of an entity; they are never put together with the rest of it again."""
        async with self._db.transaction(caller.organisation) as conn:
            await wait_for_writer(conn, caller.organisation)
            entity = (await self._get(conn, caller.organisation, entity)).id
            members = await self._records(conn, caller.organisation, entity)
            part = [record.node for record in members if record.id in set(records)]
            rest = [record.node for record in members if record.id not in set(records)]
            if len(part) < len(set(records)):
                raise CannotSplit("Some of these records are not in this entity. `GET` it to see which are.")
            if not rest:
                raise CannotSplit("All records were named; leave at least one behind.")
            if len(part) * len(rest) > MOST_APART:
                raise CannotSplit(f"That is more than {MOST_APART:,} pairs to keep apart. Split off fewer at once.")
            crossing = [pair(a, b) for a, b in product(part, rest)]
            said = await self._said(conn, caller.organisation, crossing)
            await self._say(conn, caller, crossing, "different")
            if said:
                # They were one by somebody's word; each side still is.
                for side in (part, rest):
                    await self._say(conn, caller, [pair(min(side), node) for node in side if node != min(side)], "same")
            await self._solve(
                conn,
                caller,
                members[0].kind,
                [*part, *rest],
                await self._stays(conn, caller.organisation, entity, part, rest),
            )
            told = {"records": [show(RECORD, one) for one in records][:50]}
            await audit.record(conn, caller, "entity.split", show(ENTITY, entity), told)
            homes = await store.known(conn, caller.organisation, [*part, *rest])
            found = sorted({found.entity for found in homes.values()}, key=lambda one: (one != entity, one))
            return [await self._get(conn, caller.organisation, one) for one in found]

    async def decide(self, caller: Caller, of: Pair, decision: str) -> Decided:
        """Answer a question of the review queue."""
        async with self._db.transaction(caller.organisation) as conn:
            kind = await self._asked(conn, caller.organisation, of)
            await self._say(conn, caller, [of], decision)
            await conn.execute(SQL["close_review"], _asking(caller.organisation, of))
            await self._solve(conn, caller, kind, of, None)
            return await self._decided(conn, caller, of, decision)

    async def reopen(self, caller: Caller, of: Pair) -> Decided:
        """Take the answer back."""
        async with self._db.transaction(caller.organisation) as conn:
            kind = await self._asked(conn, caller.organisation, of)
            await self._forget(conn, caller, [of])
            await self._solve(conn, caller, kind, of, None)
            await conn.execute(SQL["reopen_review"], _asking(caller.organisation, of))
            return await self._decided(conn, caller, of, "open")

    async def _asked(self, conn: Conn, organisation: UUID, of: Pair) -> str:
        """The kind two records are of whom somebody is asked about. Raises ReviewUnknown."""
        await wait_for_writer(conn, organisation)
        kind = await (await conn.execute(SQL["reviewed"], _asking(organisation, of))).fetchone()
        if kind is None:
            raise ReviewUnknown("There is no such question. `GET /v2/entities/reviews` lists the open ones.")
        found: str = kind[0]
        return found

    async def _decided(self, conn: Conn, caller: Caller, of: Pair, decision: str) -> Decided:
        homes = await store.known(conn, caller.organisation, of)
        told = {"decision": decision, "records": [show(RECORD, homes[node].id) for node in of]}
        await audit.record(conn, caller, "entity.reviewed", show(ENTITY, homes[of[0]].entity), told)
        return Decided(decision, (homes[of[0]].entity, homes[of[1]].entity))

    async def _solve(self, conn: Conn, caller: Caller, kind: str, nodes: Collection[int], preferred: Preferred) -> None:
        memory = Memory(self._policies)
        current = await epochs.current(conn, caller.organisation, kind, memory)
        around = await solved(conn, caller.organisation, memory, current, nodes)
        actor = caller.name
        settled = await settle(conn, caller.organisation, memory, current, around, Fresh(), actor, preferred)
        await settled.finish(conn, caller.organisation, current)

    async def _stays(
        self, conn: Conn, organisation: UUID, entity: UUID, part: Sequence[int], rest: Sequence[int]
    ) -> Preferred:
        """Which side of a split keeps the name: the rest, unless a merge is taken back from its other end."""
        given = {"organisation": organisation, "entity": entity}
        row = await (await conn.execute(SQL["founder"], given)).fetchone()
        if row is not None and row[0] in part and await store.retired(conn, organisation, rest):
            return entity, row[0]
        return entity, min(rest)

    async def _records(self, conn: Conn, organisation: UUID, entity: UUID) -> list[Kept]:
        found = await store.records_of(conn, organisation, [entity])
        if not found:
            raise unknown_entity()
        return found

    async def _get(self, conn: Conn, organisation: UUID, entity: UUID) -> Entity:
        found = await store.get_heir(conn, organisation, entity)
        if found is None:
            raise unknown_entity()
        return found

    async def _say(self, conn: Conn, caller: Caller, pairs: Sequence[Pair], decision: str) -> None:
        if pairs:
            given = {"organisation": caller.organisation, "decision": decision, "actor": caller.name, **_listed(pairs)}
            await conn.execute(SQL["say"], given, prepare=False)

    async def _said(self, conn: Conn, organisation: UUID, pairs: Sequence[Pair]) -> bool:
        """Whether any of these are one by somebody's word."""
        given = {"organisation": organisation, **_listed(pairs)}
        return await (await conn.execute(SQL["said_same"], given, prepare=False)).fetchone() is not None

    async def _forget(self, conn: Conn, caller: Caller, pairs: Sequence[Pair]) -> None:
        given = {"organisation": caller.organisation, **_listed(pairs)}
        await conn.execute(SQL["unsay"], given, prepare=False)


async def wait_for_writer(conn: Conn, organisation: UUID, *, forgets: bool = False) -> None:
    """Take the writer's row: its batches come before or after, never in between."""
    await conn.execute(SQL["wait_for_writer"], {"organisation": organisation, "forgets": int(forgets)})


def review_id(of: Pair) -> UUID:
    """What a question is called: the two records it is about."""
    return UUID(bytes=b"".join((node & (2**64 - 1)).to_bytes(8, "big") for node in of))


def review_pair(review: UUID) -> Pair:
    a, b = (int.from_bytes(half, "big", signed=True) for half in (review.bytes[:8], review.bytes[8:]))
    return (a, b)


def _asking(organisation: UUID, of: Pair) -> dict[str, object]:
    return {"organisation": organisation, "a": of[0], "b": of[1]}


def _listed(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    return {"firsts": [a for a, _ in pairs], "seconds": [b for _, b in pairs]}
