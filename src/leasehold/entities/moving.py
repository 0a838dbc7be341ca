"""From one epoch to the next: what would change is shown first; then everything is compared anew, side by side."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from leasehold import idempotency
from leasehold.db import Conn, Database
from leasehold.entities import epochs, store
from leasehold.entities.chart import Standing
from leasehold.entities.edges import candidates, keys_of, weighed
from leasehold.entities.intake import naming_itself
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import ENTITY, SELLER, State
from leasehold.entities.settling import WRITER, Fresh, settle
from leasehold.entities.solving import Neighbourhood
from leasehold.entities.store import SQL, Found, Shown
from leasehold.idempotency import Once
from leasehold.ids import show
from leasehold.linking import Epoch, Graph, Policy, Record, learn, prior

_STEP = 500
_MOST_SHOWN = 20

Place = tuple[str, str, str]


async def propose(
    db: Database, organisation: UUID, kind: str, policies: Mapping[str, Policy], once: Once | None, *, learned: bool
) -> int:
    """Weigh anew, learned from the records there are and from what people said, and keep what would change under a
    number. A repeat is told the number of the first.
    """
    policy = Memory(policies).policy(kind)
    async with db.transaction(organisation) as conn:
        if once and (made := await idempotency.claim(conn, once)):
            return int(made)
        if once:  # nothing is made before it is weighed
            await idempotency.forget(conn, once)
        found = await _all(conn, organisation, kind)
        decisions = await _decisions(conn, organisation, kind)
    records = {one.node: naming_itself(one.record(kind), one.state) for one in found}
    said = [(records[a], records[b], same) for a, b, same in decisions if a in records and b in records]
    if learned and kind != SELLER:  # of whom nothing is weighed but the name
        epoch = await asyncio.to_thread(learn, list(records.values()), policy, said)
    else:
        epoch, learned = prior(policy), False
    difference = await asyncio.to_thread(_difference, epoch, found, records, decisions)
    async with db.transaction(organisation) as conn:
        if once and (made := await idempotency.claim(conn, once)):
            return int(made)
        origin = "learned" if learned else "configured"
        now = await epochs.open_epoch(conn, organisation, kind, epoch, origin=origin, state="proposed")
        given = {"organisation": organisation, "kind": kind, "number": now.number}
        await conn.execute(SQL["epoch_difference"], {**given, "difference": orjson.dumps(difference).decode()})
        if once:
            await idempotency.keep(conn, once, str(now.number))
    return now.number


async def _all(conn: Conn, organisation: UUID, kind: str) -> list[Found]:
    found: list[Found] = []
    while True:
        after = found[-1].node if found else None
        page = await _after(conn, organisation, kind, after, 5000)
        found += page
        if len(page) < 5000:
            return found


async def _after(conn: Conn, organisation: UUID, kind: str, after: int | None, limit: int) -> list[Found]:
    given = {"organisation": organisation, "kind": kind, "after": after, "limit": limit}
    rows = await (await conn.execute(SQL["records_after"], given)).fetchall()
    return [
        Found(node, id_, source, source_id, name, bytes(content), bytes(digest), State(state), entity, step)
        for node, id_, source, source_id, name, content, digest, state, entity, step in rows
    ]


async def _decisions(conn: Conn, organisation: UUID, kind: str) -> list[tuple[int, int, bool]]:
    given = {"organisation": organisation, "kind": kind}
    rows = await (await conn.execute(SQL["decisions_all"], given)).fetchall()
    return [(a, b, decision == "same") for a, b, decision in rows if decision != "unsure"]


def _difference(
    epoch: Epoch, found: Sequence[Found], records: Mapping[int, Record], decisions: Sequence[tuple[int, int, bool]]
) -> dict[str, Any]:
    """Who would be where, held against where they are."""
    places = {node: record.place for node, record in records.items()}
    known = [(places[a], places[b], same) for a, b, same in decisions if a in places and b in places]
    graph = Graph(
        epoch,
        apart=[(a, b) for a, b, same in known if not same],
        together=[(a, b) for a, b, same in known if same],
    )
    graph.add(records.values())
    before = {places[one.node]: one.entity for one in found}
    return compared(before, graph.partition())


def compared(before: Mapping[Place, UUID], after: Sequence[Sequence[Place]]) -> dict[str, Any]:
    """How many entities there would be, which pairs would come together, and which would part."""
    sizes = Counter(before.values())
    joined = same = 0
    shown: list[dict[str, Any]] = []
    homes: dict[UUID, set[int]] = defaultdict(set)
    for at, cluster in enumerate(after):
        parts = Counter(before[place] for place in cluster)
        same += sum(_pairs(size) for size in parts.values())
        joined += _pairs(len(cluster)) - sum(_pairs(size) for size in parts.values())
        for entity in parts:
            homes[entity].add(at)
        if len(parts) > 1 and len(shown) < _MOST_SHOWN:
            shown.append({"change": "merge", "entities": [show(ENTITY, one) for one in sorted(parts)]})
    split = [entity for entity, several in homes.items() if len(several) > 1]
    shown += [{"change": "split", "entities": [show(ENTITY, one)]} for one in sorted(split)[: _MOST_SHOWN - len(shown)]]
    return {
        "entities_before": len(sizes),
        "entities_after": len(after),
        "pairs_joined": joined,
        "pairs_parted": sum(_pairs(size) for size in sizes.values()) - same,
        "examples": shown,
    }


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


async def begin(conn: Conn, organisation: UUID, kind: str, number: int) -> bool:
    """Have the writer move to an epoch. False if there is none such, or one is on its way already."""
    given = {"organisation": organisation, "kind": kind, "number": number}
    return await (await conn.execute(SQL["epoch_begin"], given)).fetchone() is not None


async def move_some(conn: Conn, organisation: UUID, memory: Memory) -> bool:
    """One step on the way to an epoch, in the writer's transaction. False when there is none to move to."""
    row = await (await conn.execute(SQL["epoch_moving"], {"organisation": organisation})).fetchone()
    if row is None:
        return False
    kind, number, parameters, reached = row
    coming = memory.coming
    if coming is None or (coming.kind, coming.number) != (kind, number):
        memory.clear()
        coming = memory.coming = Current(kind, number, Epoch.from_json(parameters))
    if reached is None:
        # What an earlier move left, when it was this one's turn before.
        await _clear(conn, organisation, kind, number)
    some = await _after(conn, organisation, kind, reached, _STEP)
    if some:
        await _weigh(conn, organisation, memory, coming, some)
        given = {"organisation": organisation, "kind": kind, "number": number, "reached": some[-1].node}
        await conn.execute(SQL["epoch_reached"], given)
    else:
        await _switch(conn, organisation, memory, coming)
    return True


async def _weigh(conn: Conn, organisation: UUID, memory: Memory, coming: Current, some: Sequence[Found]) -> None:
    for one in some:
        memory.learn(one.node, one.record(coming.kind), one.state, coming)
    nodes = [one.node for one in some]
    keys = keys_of(nodes, memory, coming)
    like = await candidates(conn, organisation, coming, keys)
    outside = await store.outside(conn, organisation, nodes)
    for a, b in outside:
        # The other one's turn may come yet.
        if b in like:
            like[b].add(a)
    await store.remember(conn, organisation, memory, coming, set().union(*like.values()))
    edges = await asyncio.to_thread(weighed, like, memory, coming, outside)
    entered = [(key, node) for node, several in keys.items() for key in several]
    await store.enter(conn, organisation, coming.number, entered)
    await store.keep_edges(conn, organisation, coming.number, [Shown(edge, None) for edge in edges])
    memory.tidy()


async def _switch(conn: Conn, organisation: UUID, memory: Memory, coming: Current) -> None:
    """Everything is weighed: solve it, tell what changed, and let go of the old edges."""
    given = {"organisation": organisation, "kind": coming.kind, "epoch": coming.number, "number": coming.number}
    around = Neighbourhood()
    for node, source, state, entity in await (await conn.execute(SQL["standings"], given)).fetchall():
        around.standings[node] = Standing(source, State(state), entity)
    around.bits = {(a, b): bits for a, b, bits in await (await conn.execute(SQL["edges_of_epoch"], given)).fetchall()}
    for a, b, same in await _decisions(conn, organisation, coming.kind):
        (around.together if same else around.apart).add((a, b))
    await asyncio.to_thread(around.solve, coming)
    await settle(conn, organisation, memory, coming, around, Fresh(), WRITER)
    before = await (await conn.execute(SQL["epoch_number"], given)).fetchone()
    await conn.execute(SQL["epoch_retire"], given)
    await conn.execute(SQL["epoch_switch"], {**given, "record_count": len(around.standings)})
    await conn.execute(SQL["ask_people"], {**given, "review": coming.epoch.policy.review})
    if before is not None:
        await _clear(conn, organisation, coming.kind, before[0])
    memory.clear()


async def _clear(conn: Conn, organisation: UUID, kind: str, number: int) -> None:
    given = {"organisation": organisation, "kind": kind, "epoch": number}
    await conn.execute(SQL["clear_epoch_edges"], given)
    await conn.execute(SQL["clear_epoch_keys"], given)
