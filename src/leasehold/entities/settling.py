"""What follows when records are put together anew: entities made, merged and split, and everybody told."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from leasehold.db import Conn
from leasehold.entities import store
from leasehold.entities.cards import Card, card
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import ENTITY, RECORD, Edge
from leasehold.entities.solving import Neighbourhood, Partition, Preferred, partition
from leasehold.entities.store import Shown, Told
from leasehold.ids import show
from leasehold.linking import Record

WRITER = "writer"
# Beyond so many, a change says how many records instead of which.
_MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class Fresh:
    """Records that are written at this moment, and what those among them were that there were before."""

    records: Mapping[int, Record] = field(default_factory=dict)
    before: Mapping[int, Record] = field(default_factory=dict)


@dataclass(slots=True)
class Settled:
    """Who belongs where by now, and what that brought."""

    partition: Partition
    around: Neighbourhood
    fresh: Collection[int]
    # What a record brought its entity: ids, addresses and names it did not have.
    gains: dict[int, Counter[str]] = field(default_factory=dict)
    founders: set[int] = field(default_factory=set)

    def founded(self, node: int) -> bool:
        """Whether an entity was made for this very record."""
        return node in self.founders

    def shown(self, edges: Iterable[Edge], current: Current) -> list[Shown]:
        """Edges with how much could be learned from a person's word on them."""
        return [Shown(edge, self._teaches(edge, current)) for edge in edges]

    def _teaches(self, edge: Edge, current: Current) -> float | None:
        left, right = self.partition.of.get(edge.a), self.partition.of.get(edge.b)
        if (left is not None and left == right) or (edge.bits < current.epoch.policy.review and not edge.conflicts):
            return None
        return self._worth(edge.bits, left, right)

    def _worth(self, bits: float, left: UUID | None, right: UUID | None) -> float:
        """What is near to even teaches most, and the more records it is about."""
        sizes = [len(self.partition.clusters[one]) if one else 1 for one in (left, right)]
        return min(sum(sizes), 50) / (1 + abs(bits))

    async def finish(self, conn: Conn, organisation: UUID, current: Current) -> None:
        """Once everything is written: what people could be asked of those that came together, or parted."""
        flips = [(a, b, teaches) for a, b, teaches in self._flips(current)]
        if flips:
            await store.reteach(conn, organisation, current.number, flips)

    def _flips(self, current: Current) -> Iterable[tuple[int, int, float | None]]:
        of, around = self.partition.of, self.around
        moved = {node for node, standing in around.standings.items() if standing.entity != of[node]}
        for (a, b), bits in around.bits.items():
            if (a not in moved and b not in moved) or a in self.fresh or b in self.fresh:
                continue  # as before, or written with what it teaches
            left, right = of[a], of[b]
            if (around.standings[a].entity == around.standings[b].entity) == (left == right):
                continue
            is_open = left != right and bits >= current.epoch.policy.review and (a, b) not in around.apart
            yield a, b, self._worth(bits, left, right) if is_open else None


async def settle(
    conn: Conn,
    organisation: UUID,
    memory: Memory,
    current: Current,
    around: Neighbourhood,
    fresh: Fresh,
    actor: str,
    preferred: Preferred = None,
) -> Settled:
    """Solve, and write down which entities there are now. The fresh records themselves are written by the caller."""
    existing = [node for node, standing in around.standings.items() if standing.entity is not None]
    retired = await store.retired(conn, organisation, existing)
    found = partition(around, retired, preferred)
    before = {node: around.standings[node].entity for node in around.standings}
    moved = {
        node: entity
        for node, entity in found.of.items()
        if before[node] is not None and before[node] != entity and node not in fresh.records
    }
    touched = _touched(found, before, fresh)
    await store.remember(
        conn, organisation, memory, current, {node for entity in touched for node in found.clusters[entity]}
    )
    cards = {entity: card([memory[node].record for node in found.clusters[entity]]) for entity in touched}
    settled = Settled(found, around, fresh.records)
    for entity in touched:
        _count_gains(settled, entity, found, memory, fresh)
    for entity in found.created:
        settled.founders.add(found.clusters[entity][0])
    changes = list(_changes(found, before, fresh, cards, memory))
    await store.keep_entities(conn, organisation, current.kind, found, cards)
    if found.gone:
        await store.merge_away(conn, organisation, found.gone)
    if moved:
        await store.move(conn, organisation, moved)
    await store.tell(conn, organisation, changes, actor)
    if counts := _counts(found):
        await store.count(conn, organisation, {"": counts})
    return settled


def _touched(found: Partition, before: Mapping[int, UUID | None], fresh: Fresh) -> list[UUID]:
    """Entities whose card may have changed."""
    touched = {entity for node, entity in found.of.items() if before[node] != entity or node in fresh.records}
    # One that lost a record, too.
    touched |= {old for node, old in before.items() if old in found.clusters and found.of[node] != old}
    return sorted(touched)


def _count_gains(settled: Settled, entity: UUID, found: Partition, memory: Memory, fresh: Fresh) -> None:
    members = found.clusters[entity]
    new = [node for node in members if node in fresh.records]
    if not new:
        return
    known = [memory[node].record for node in members if node not in fresh.records]
    known += [fresh.before[node] for node in new if node in fresh.before]
    had = card(known) if known else Card()
    ids, urls, names = had.identifiers(), had.addresses(), had.names()
    for node in new:
        own = card([fresh.records[node]])
        gained = Counter(
            external_ids_added=len(own.identifiers() - ids),
            urls_added=len(own.addresses() - urls),
            aliases_added=len(own.names() - names) - (0 if known or node != new[0] else 1),
        )
        ids, urls, names = ids | own.identifiers(), urls | own.addresses(), names | own.names()
        settled.gains[node] = +gained


def _counts(found: Partition) -> Counter[str]:
    return +Counter(entities_created=len(found.created), duplicates_merged=len(found.gone))


def _changes(
    found: Partition, before: Mapping[int, UUID | None], fresh: Fresh, cards: Mapping[UUID, Card], memory: Memory
) -> Iterable[Told]:
    """What happened to each entity, in an order that does not depend on how it was found out."""
    lost: dict[UUID, dict[UUID, list[int]]] = defaultdict(lambda: defaultdict(list))
    won: dict[UUID, list[int]] = defaultdict(list)
    for node, entity in found.of.items():
        old = before[node]
        if old != entity:
            won[entity].append(node)
            if old is not None:
                lost[old][entity].append(node)
    for entity in sorted(found.created | found.revived):
        origin = sorted({old for node in found.clusters[entity] if (old := before[node]) is not None})
        # No name here: who is erased is not to live on in the feed.
        told: dict[str, Any] = {"records": _named(found.clusters[entity], memory)}
        if origin:
            told["from"] = [show(ENTITY, one) for one in origin]
        yield Told(entity, "created", told)
    for entity, heir in sorted(found.gone.items()):
        yield Told(entity, "merged", {"into": show(ENTITY, heir), "records": _named(lost[entity][heir], memory)})
    for entity in sorted(lost.keys() - found.gone.keys()):
        nodes = [node for several in lost[entity].values() for node in several]
        yield Told(
            entity,
            "split",
            {"into": [show(ENTITY, one) for one in sorted(lost[entity])], "records": _named(nodes, memory)},
        )
    for entity in sorted(cards.keys() - found.created - found.revived):
        changed = [node for node in found.clusters[entity] if node in fresh.before]
        if won[entity] or changed:
            yield Told(entity, "updated", {"added": _named(won[entity], memory), "changed": _named(changed, memory)})


def _named(nodes: Sequence[int], memory: Memory) -> list[str] | int:
    return [show(RECORD, memory[node].id) for node in sorted(nodes)] if len(nodes) <= _MOST_NAMED else len(nodes)
