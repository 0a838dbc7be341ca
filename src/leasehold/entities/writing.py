"""One batch of records on its way into the graph: everything is worked out first, then written in one go."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson

from leasehold.db import Conn
from leasehold.entities import epochs, store
from leasehold.entities.chart import Standing
from leasehold.entities.edges import candidates, explained, keys_of, pair, weighed
from leasehold.entities.intake import (
    MAX_WORDS,
    Arrival,
    Tombstone,
    Unreadable,
    as_arrival,
    read,
    read_tombstone,
)
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import SELLER, Edge, Outcome, State
from leasehold.entities.queue import Page
from leasehold.entities.settling import WRITER, Fresh, Settled, settle
from leasehold.entities.solving import Neighbourhood, solved
from leasehold.entities.store import Found, Row
from leasehold.entities.suppression import Suppressed
from leasehold.linking import Policy, Record

_LINKED = {
    "explicit_id": Outcome.LINKED_EXPLICIT_ID,
    "external_url": Outcome.LINKED_EXTERNAL_URL,
    "name_metadata": Outcome.LINKED_NAME_METADATA,
    "face": Outcome.LINKED_FACE,
}
# Which reason is the better one, where there are several.
_LADDER = ("explicit_id", "external_url", "name_metadata", "face")


@dataclass(slots=True)
class Written:
    """What became of a batch."""

    # By batch and by source: each record counts once.
    by_batch: dict[UUID, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    by_source: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    letters: list[tuple[UUID, str | None, str | None, str, str]] = field(default_factory=list)
    # Records that their source made one, and which source that is.
    unions: list[tuple[int, int, str]] = field(default_factory=list)

    def count(self, batch: UUID, source: str, outcome: Outcome) -> None:
        self.by_batch[batch][outcome.value] += 1
        self.by_source[source][outcome.value] += 1


@dataclass(slots=True)
class _Item:
    """One record in hand: how it came, and what was known of it."""

    arrival: Arrival
    batch: UUID
    run: UUID | None
    times: int = 1
    before: Found | None = None
    outcome: Outcome | None = None

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def has_changed(self) -> bool:
        return self.before is not None and self.before.digest != self.arrival.digest


async def write(
    conn: Conn, organisation: UUID, memory: Memory, pages: Sequence[Page], suppressed: Suppressed
) -> Written:
    """Write what these pages hold. The caller's transaction makes it true, all of it or nothing."""
    written = Written()
    items = await _read(conn, organisation, pages, suppressed, written)
    await store.unite(conn, organisation, written.unions)
    by_kind: dict[str, dict[int, _Item]] = defaultdict(dict)
    for item in items.values():
        by_kind[item.arrival.record.kind][item.arrival.node] = item
    for kind, several in sorted(by_kind.items()):
        current = await epochs.current(conn, organisation, kind, memory)
        await _write_kind(conn, organisation, memory, current, several, written)
    await store.book(conn, organisation, pages, written.by_batch, written.by_source, written.letters)
    return written


async def _read(
    conn: Conn, organisation: UUID, pages: Sequence[Page], suppressed: Suppressed, written: Written
) -> dict[int, _Item]:
    """The records of these pages as they are in the end, each with what was known of it before."""
    items: dict[int, _Item] = {}
    graves: dict[int, tuple[Tombstone, UUID]] = {}
    for page in pages:
        for raw in page.read():
            try:
                if tombstone := read_tombstone(raw):
                    _bury(items, graves, tombstone, page.batch, written)
                    continue
                arrival = read(raw)
            except Unreadable as error:
                written.letters.append((page.batch, *_named(raw), str(error), _shown(raw)))
                written.count(page.batch, _named(raw)[0] or "unknown", Outcome.FAILED)
                continue
            if suppressed.has(arrival.record):
                written.count(page.batch, arrival.record.source, Outcome.SUPPRESSED)
                continue
            _take_in(items, graves, arrival, page, written)
    known = await store.known(conn, organisation, [*items, *graves])
    _dig_up(items, graves, known, written)
    for node, item in list(items.items()):
        if found := known.get(node):
            item.before = found
            item.arrival = _told_again(item.arrival, found.record(item.arrival.record.kind))
            if found.id != item.arrival.id:
                _refuse_twin(items.pop(node), written)
    return items


def _take_in(
    items: dict[int, _Item], graves: dict[int, tuple[Tombstone, UUID]], arrival: Arrival, page: Page, written: Written
) -> None:
    earlier = items.get(arrival.node)
    if earlier and earlier.arrival.id != arrival.id:
        return _refuse_twin(_Item(arrival, page.batch, page.run), written)
    if grave := graves.pop(arrival.node, None):
        written.count(grave[1], arrival.record.source, Outcome.TOMBSTONED)
    if earlier:
        arrival = _told_again(arrival, earlier.arrival.record)
        same = earlier.arrival.digest == arrival.digest
        written.count(earlier.batch, arrival.record.source, Outcome.UNCHANGED if same else Outcome.UPDATED)
    items[arrival.node] = _Item(arrival, page.batch, page.run, earlier.times + 1 if earlier else 1)
    return None


def _bury(
    items: dict[int, _Item],
    graves: dict[int, tuple[Tombstone, UUID]],
    tombstone: Tombstone,
    batch: UUID,
    written: Written,
) -> None:
    """Note that a record is no more, also one that came a moment before."""
    if tombstone.heir is not None and tombstone.heir != tombstone.node:
        written.unions.append((*pair(tombstone.node, tombstone.heir), tombstone.source))
    item = items.get(tombstone.node)
    if item:
        item.arrival = as_arrival(item.arrival.record, item.arrival.images, tombstone.state)
    if item or tombstone.node in graves:
        written.count(batch, tombstone.source, Outcome.TOMBSTONED)
    else:
        graves[tombstone.node] = (tombstone, batch)


def _dig_up(
    items: dict[int, _Item],
    graves: Mapping[int, tuple[Tombstone, UUID]],
    known: Mapping[int, Found],
    written: Written,
) -> None:
    """What is known of the dead is written once more with their state; of whom nothing is known, nothing is."""
    for node, (tombstone, batch) in graves.items():
        if found := known.get(node):
            arrival = as_arrival(found.record(tombstone.kind), found.images, tombstone.state)
            items[node] = _Item(arrival, batch, None, times=0)
        else:
            written.count(batch, tombstone.source, Outcome.TOMBSTONED)


def _refuse_twin(item: _Item, written: Written) -> None:
    record = item.arrival.record
    why = "another record has the same number; give it another source_id"
    written.letters.append((item.batch, record.source, record.source_id, why, ""))
    written.count(item.batch, record.source, Outcome.FAILED)


def _told_again(now: Arrival, before: Record) -> Arrival:
    """A record as it is by now. What a seller was called before, it is called still: runs see it in passing."""
    if now.record.kind != SELLER:
        return now
    names = {before.name, *before.aliases, *now.record.aliases} - {now.record.name}
    attributes = {**before.attributes, **now.record.attributes}
    record = replace(now.record, aliases=tuple(sorted(names)[:MAX_WORDS]), attributes=attributes)
    return as_arrival(record, now.images, now.state)


async def _write_kind(
    conn: Conn, organisation: UUID, memory: Memory, current: Current, items: dict[int, _Item], written: Written
) -> None:
    fresh = {node: item for node, item in items.items() if item.is_new or item.has_changed}
    again = {node: item for node, item in items.items() if node not in fresh}
    if again:
        await store.see_again(conn, organisation, [(node, item.times, item.run) for node, item in again.items()])
        for item in again.values():
            written.count(item.batch, item.arrival.record.source, Outcome.UNCHANGED)
    if not fresh:
        return
    changed = [node for node, item in fresh.items() if item.has_changed]
    around, edges = await _linked(conn, organisation, memory, current, fresh, changed)
    fresh_ = Fresh(
        {node: item.arrival.record for node, item in fresh.items()},
        {node: before.record(current.kind) for node, item in fresh.items() if (before := item.before)},
    )
    settled = await settle(conn, organisation, memory, current, around, fresh_, WRITER)
    best = _best(fresh, settled, edges)
    _judge(fresh, settled, edges, best, current.epoch.policy)
    rows = [_row(item, settled.partition.of[node], best.get(node), memory, current) for node, item in fresh.items()]
    for item in fresh.values():
        written.count(item.batch, item.arrival.record.source, item.outcome or Outcome.UPDATED)
        written.by_source[item.arrival.record.source].update(settled.gains.get(item.arrival.node, {}))
    await store.keep(conn, organisation, current.number, rows, changed, settled.shown(edges, current))
    await settled.finish(conn, organisation, current)
    memory.chart.settle(around.standings, settled.partition.clusters)
    memory.chart.tie(fresh, edges)


async def _linked(
    conn: Conn, organisation: UUID, memory: Memory, current: Current, fresh: Mapping[int, _Item], changed: list[int]
) -> tuple[Neighbourhood, list[Edge]]:
    old = await _old_keys(fresh, changed, memory, current)
    await asyncio.to_thread(_describe, fresh, memory, current)
    keys = keys_of(fresh, memory, current)
    like = await candidates(conn, organisation, current, keys)
    outside = await store.outside(conn, organisation, list(fresh))
    for a, b in outside:
        for one, other in ((a, b), (b, a)):
            if one in like:
                like[one].add(other)
    await store.remember(conn, organisation, memory, current, set().union(*like.values()))
    # PostgreSQL enters the keys while we weigh: nobody reads them before the batch is there.
    edges, _ = await asyncio.gather(
        asyncio.to_thread(weighed, like, memory, current, outside),
        store.rekey(conn, organisation, current.number, old, keys),
    )
    around = await solved(conn, organisation, memory, current, list(fresh), _standings(fresh), edges)
    return around, edges


def _standings(fresh: Mapping[int, _Item]) -> dict[int, Standing]:
    return {
        node: Standing(item.arrival.record.source, item.arrival.state, item.before.entity if item.before else None)
        for node, item in fresh.items()
    }


async def _old_keys(
    fresh: Mapping[int, _Item], changed: Iterable[int], memory: Memory, current: Current
) -> dict[int, list[int]]:
    """Under what changed records are entered so far."""
    for node in changed:
        before = fresh[node].before
        if node not in memory and before is not None:
            memory.learn(node, before.record(current.kind), before.state, current)
    return keys_of(changed, memory, current)


def _describe(fresh: Mapping[int, _Item], memory: Memory, current: Current) -> None:
    for node, item in fresh.items():
        memory.learn(node, item.arrival.record, item.arrival.state, current)


def _best(fresh: Mapping[int, _Item], settled: Settled, edges: Sequence[Edge]) -> dict[int, Edge]:
    """For each fresh record, the best reason to be where it is."""
    best: dict[int, Edge] = {}
    of = settled.partition.of
    for edge in edges:
        home = of.get(edge.a)
        if home is None or home != of.get(edge.b):
            continue
        for node in (edge.a, edge.b):
            if node in fresh and (node not in best or _rank(edge) < _rank(best[node])):
                best[node] = edge
    return best


def _rank(edge: Edge) -> tuple[int, float, int, int]:
    return _LADDER.index(edge.step), -edge.bits, edge.a, edge.b


def _judge(
    fresh: Mapping[int, _Item], settled: Settled, edges: Sequence[Edge], best: Mapping[int, Edge], policy: Policy
) -> None:
    """Say of each record what became of it."""
    of, clusters = settled.partition.of, settled.partition.clusters
    alone = {node for node, item in fresh.items() if item.is_new and len(clusters[of[node]]) == 1}
    open_: dict[int, list[Edge]] = defaultdict(list)
    for edge in edges:
        for node in alone.intersection((edge.a, edge.b)):
            open_[node].append(edge)
    for node, item in fresh.items():
        if item.has_changed:
            gone = item.arrival.state is not State.LIVE
            item.outcome = Outcome.TOMBSTONED if gone else Outcome.UPDATED
        elif node in alone or settled.founded(node):
            item.outcome = _alone(open_[node], policy)
        else:
            item.outcome = _LINKED[best[node].step if node in best else "name_metadata"]


def _row(item: _Item, entity: UUID, best: Edge | None, memory: Memory, current: Current) -> Row:
    """A record as it is kept, with what it was linked by; one that founded an entity was linked by nothing."""
    if best is None or (item.is_new and item.outcome not in _LINKED.values()):
        return Row(item.arrival, entity, "created", None, None, item.times, item.run)
    node = item.arrival.node
    other = best.b if best.a == node else best.a
    tie = explained((best.a, best.b), memory, current, ())
    return Row(item.arrival, entity, best.step, tie, other, item.times, item.run)


def _alone(edges: Collection[Edge], policy: Policy) -> Outcome:
    if any(edge.conflicts for edge in edges):
        return Outcome.CONFLICT
    return Outcome.REVIEW if any(edge.bits >= policy.review for edge in edges) else Outcome.CREATED


def _named(raw: Any) -> tuple[str | None, str | None]:
    """What an unreadable record says it is, if it says so at all."""
    if not isinstance(raw, dict):
        return None, None
    source, source_id = raw.get("source"), raw.get("source_id")
    return (source[:100] if isinstance(source, str) else None, source_id[:500] if isinstance(source_id, str) else None)


def _shown(raw: Any) -> str:
    return orjson.dumps(raw).decode()[:16_000].replace("\\u0000", "")
