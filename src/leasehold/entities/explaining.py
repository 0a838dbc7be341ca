"""Why records are together, and why not: worked out again from records and epoch, beside what was kept when it came."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from leasehold.db import Conn, Database
from leasehold.entities import epochs, store
from leasehold.entities.deciding import review_id
from leasehold.entities.edges import explained, pair
from leasehold.entities.intake import as_record, node_of
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import Kept, Pair, Tie
from leasehold.entities.problems import RecordUnknown, unknown_entity
from leasehold.entities.store import SQL
from leasehold.linking import Policy

_MOST_EDGES = 1000
_MOST_DECISIONS = 1000


@dataclass(frozen=True, slots=True)
class Word:
    """What somebody said of two records."""

    a: UUID
    b: UUID
    decision: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Belonging:
    """Why one record is where it is: its best tie to another of the same entity, now and when it came."""

    record: Kept
    step: str
    score: float | None
    best: Tie | None
    then: Tie | None
    ties: int


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why the records of an entity are together."""

    records: Sequence[Belonging] = ()
    ties: Sequence[Tie] = ()
    words: Sequence[Word] = ()
    join: float = 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """Two records somebody could say something about."""

    id: UUID
    a: Kept
    b: Kept
    tie: Tie
    join: float
    teaches: float


@dataclass(frozen=True, slots=True)
class Why:
    """Everything that speaks for and against two records being one."""

    a: Kept
    b: Kept
    tie: Tie
    join: float
    decision: Word | None
    # From one to the other over ties that join, where they are in one entity.
    path: list[Tie]


class Explainer:
    """Reads the graph aloud."""

    def __init__(self, db: Database, policies: Mapping[str, Policy]) -> None:
        self._db = db
        self._policies = policies
        # Epochs may be large, and are asked for again and again.
        self._epochs: dict[UUID, dict[str, Current]] = {}

    async def evidence(self, organisation: UUID, entity: UUID) -> Reasons:
        async with self._db.transaction(organisation) as conn:
            records = await store.records_of(conn, organisation, [entity])
            if not records:
                if await store.get(conn, organisation, entity) is None:
                    raise unknown_entity()
                return Reasons()
            by_node = {record.node: record for record in records}
            ties, current = await self._ties(conn, organisation, by_node)
            words = await self._words(conn, organisation, by_node)
        belongings = [_belonging(record, ties, words) for record in records]
        return Reasons(belongings, ties, words, current.epoch.policy.join)

    async def why(self, organisation: UUID, one: UUID, other: UUID) -> Why:
        """Raises RecordUnknown."""
        async with self._db.transaction(organisation) as conn:
            a, b = [await self._record(conn, organisation, which) for which in (one, other)]
            if a.kind != b.kind or a.id == b.id:
                raise RecordUnknown("Name two records of one kind: others are never compared.")
            both = {a.node: a, b.node: b}
            (tie,), current = await self._explained(conn, organisation, both, [pair(a.node, b.node)])
            words = await self._words(conn, organisation, both)
            ties: list[Tie] = []
            if a.entity == b.entity:
                mates = {mate.node: mate for mate in await store.records_of(conn, organisation, [a.entity])}
                ties, _ = await self._ties(conn, organisation, mates)
        join = current.epoch.policy.join
        return Why(a, b, tie, join, words[0] if words else None, _path(a.id, b.id, ties, join))

    async def questions(
        self, organisation: UUID, kind: str | None, after: tuple[float, int, int] | None, limit: int
    ) -> list[Question]:
        """Open questions, what teaches most first."""
        found = []
        async with self._db.transaction(organisation) as conn:
            teaches, a, b = after or (None, None, None)
            given = {"organisation": organisation, "kind": kind, "teaches": teaches, "a": a, "b": b, "limit": limit}
            rows = await (await conn.execute(SQL["reviews"], given)).fetchall()
            nodes = sorted({node for row in rows for node in row[:2]})
            records = {record.node: record for record in await store.kept(conn, organisation, nodes)}
            for one, other, taught in rows:
                left, right = records[one], records[other]
                (tie,), current = await self._explained(conn, organisation, {one: left, other: right}, [(one, other)])
                join = current.epoch.policy.join
                found.append(Question(review_id((one, other)), left, right, tie, join, taught))
        return found

    async def _record(self, conn: Conn, organisation: UUID, record: UUID) -> Kept:
        found = {one.id: one for one in await store.kept(conn, organisation, [node_of(record)])}
        if record not in found:
            raise RecordUnknown("No record of your organisation has this id. An entity lists its records.")
        return found[record]

    async def _ties(self, conn: Conn, organisation: UUID, records: Mapping[int, Kept]) -> tuple[list[Tie], Current]:
        """The edges among these, part by part, the strongest first."""
        kind = next(iter(records.values())).kind
        given = {"organisation": organisation, "nodes": list(records), "kind": kind, "limit": _MOST_EDGES}
        rows = await (await conn.execute(SQL["edges_inside"], given, prepare=False)).fetchall()
        return await self._explained(conn, organisation, records, rows)

    async def _explained(
        self, conn: Conn, organisation: UUID, records: Mapping[int, Kept], pairs: Sequence[Pair]
    ) -> tuple[list[Tie], Current]:
        """What there is to say of these pairs: found anew, since within an epoch that is what it was."""
        kind = next(iter(records.values())).kind
        memory = Memory(self._policies)
        memory.epochs = self._epochs.setdefault(organisation, {})
        current = await epochs.current(conn, organisation, kind, memory)
        for node, one in records.items():
            record = as_record(one.kind, one.source, one.source_id, one.name, one.content)
            memory.learn(node, record, one.state, current)
        outside = await store.outside(conn, organisation, list(records))
        return [explained((a, b), memory, current, outside.get((a, b), ())) for a, b in pairs], current

    async def _words(self, conn: Conn, organisation: UUID, records: Mapping[int, Kept]) -> list[Word]:
        given = {"organisation": organisation, "nodes": list(records), "limit": _MOST_DECISIONS}
        rows = await (await conn.execute(SQL["decisions_inside"], given)).fetchall()
        return [Word(records[a].id, records[b].id, *rest) for a, b, *rest in rows]


def _belonging(record: Kept, ties: Sequence[Tie], words: Sequence[Word]) -> Belonging:
    own = [tie for tie in ties if record.id in (tie.a, tie.b)]
    said = any(word.decision == "same" and record.id in (word.a, word.b) for word in words)
    best = max(own, key=lambda tie: tie.bits, default=None)
    step = best.step if best else "human" if said else record.step
    then = Tie(**_told(record.evidence)) if record.evidence else None
    return Belonging(record, step, best.bits if best else None, best, then, len(own))


def _told(evidence: str) -> dict[str, Any]:
    told: dict[str, Any] = orjson.loads(evidence)
    return {**told, "a": UUID(told["a"]), "b": UUID(told["b"])}


def _path(start: UUID, goal: UUID, ties: Sequence[Tie], join: float) -> list[Tie]:
    """The shortest way over ties that join, the strongest first."""
    near: dict[UUID, list[tuple[UUID, Tie]]] = defaultdict(list)
    for tie in sorted(ties, key=lambda tie: -tie.bits):
        if tie.bits >= join:
            near[tie.a].append((tie.b, tie))
            near[tie.b].append((tie.a, tie))
    came: dict[UUID, tuple[UUID, Tie] | None] = {start: None}
    todo = deque([start])
    while todo and goal not in came:
        here = todo.popleft()
        for there, tie in near[here]:
            if there not in came:
                came[there] = (here, tie)
                todo.append(there)
    path = []
    at = came.get(goal)
    while at is not None:
        path.append(at[1])
        at = came[at[0]]
    return path[::-1]
