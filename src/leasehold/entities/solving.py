"""Who belongs to which entity: solved anew where something changed, and only there."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from leasehold.db import Conn
from leasehold.entities.chart import Chart, Standing
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import Edge, Pair
from leasehold.entities.store import SQL
from leasehold.ids import uuid7
from leasehold.linking import solve

# An entity, and a record of the cluster that is to keep its name.
Preferred = tuple[UUID, int] | None


@dataclass(slots=True)
class Neighbourhood:
    """Records that are solved together: whole entities, the edges among them, and what people said."""

    standings: dict[int, Standing] = field(default_factory=dict)
    bits: dict[Pair, float] = field(default_factory=dict)
    together: set[Pair] = field(default_factory=set)
    apart: set[Pair] = field(default_factory=set)
    clusters: list[list[int]] = field(default_factory=list)

    def solve(self, current: Current, nodes: Collection[int] | None = None) -> None:
        """Put together all that are here, or these, which nothing ties to the others strongly enough to join."""
        some = self.standings.keys() if nodes is None else nodes
        self.clusters = [cluster for cluster in self.clusters if cluster[0] not in some]
        self.clusters += solve(
            some,
            [(a, b, bits) for (a, b), bits in self.bits.items() if a in some and b in some],
            self.apart,
            self.together,
            {node: self.standings[node].label for node in some},
            current.epoch,
        )


@dataclass(slots=True)
class Partition:
    """Who is where after solving."""

    clusters: dict[UUID, list[int]] = field(default_factory=dict)
    of: dict[int, UUID] = field(default_factory=dict)
    created: set[UUID] = field(default_factory=set)
    revived: set[UUID] = field(default_factory=set)
    # Entities that are no more, and which became of them.
    gone: dict[UUID, UUID] = field(default_factory=dict)


async def solved(
    conn: Conn,
    organisation: UUID,
    memory: Memory,
    current: Current,
    start: Collection[int],
    fresh: Mapping[int, Standing] = MappingProxyType({}),
    edges: Sequence[Edge] = (),
) -> Neighbourhood:
    """Solve again what a change may have touched, and nothing else.

    Around the records that changed stands a ring of all entities they are tied to strongly enough to join. If the ring
    comes out of it as it was, nothing beyond it can change either: what is outside is tied to the ring alone, and was
    solved beside it before. What did change in the ring belongs to the inside, and the ring moves outwards.
    """
    region = _Region(conn, organisation, memory.chart, current, fresh, edges)
    await region.begin(start)
    # Most of what is tied to something new changes with it: it is inside from the beginning.
    inside: Collection[int] = list(region.around.standings)
    while inside:
        await region.widen(inside)
        touched = await region.read()
        await asyncio.to_thread(region.around.solve, current, touched)
        inside = region.outgrown()
    return region.around


class _Region:
    """A neighbourhood that grows outwards."""

    def __init__(
        self,
        conn: Conn,
        organisation: UUID,
        chart: Chart,
        current: Current,
        fresh: Mapping[int, Standing],
        edges: Sequence[Edge],
    ) -> None:
        self.around = Neighbourhood(standings=dict(fresh))
        self._conn = conn
        self._organisation = organisation
        self._chart = chart
        self._epoch = current.number
        self._join = current.epoch.policy.join
        self._fresh = fresh
        self._inside: set[int] = set()
        self._read_already: set[int] = set()
        # Who is tied to whom strongly enough to join.
        self._near: dict[int, set[int]] = defaultdict(set)
        for edge in edges:
            self._tie(edge.a, edge.b, edge.bits)

    async def begin(self, start: Collection[int]) -> None:
        """Those something happened to, who is in one entity with them, and all they are tied to now."""
        # What they were tied to, so that it is forgotten on both sides.
        known = [node for node, standing in self._fresh.items() if standing.entity is not None]
        await self._chart.know_ties(self._conn, self._organisation, self._epoch, known)
        # Who was in one entity with them: an edge that is no more leaves no other trace.
        mates = await self._add(start)
        await self.widen({*start, *mates}, list(self._near))

    async def widen(self, inside: Collection[int], tied: Collection[int] = ()) -> None:
        """Make these the inside, and stand a ring of whole entities around it."""
        fresh = {node for node in inside if node not in self._inside}
        self._inside |= fresh
        # The edges of what is fresh are in hand; those that are kept of it are those of what it was.
        known = [node for node in fresh if node not in self._fresh]
        await self._chart.know_ties(self._conn, self._organisation, self._epoch, known)
        near = fresh.union(tied)
        given = {"organisation": self._organisation, "nodes": list(near)}
        said = await (await self._conn.execute(SQL["same_by_word"], given, prepare=False)).fetchall()
        near.update(node for (node,) in said)
        ties, join = self._chart.ties, self._join
        for node in known:
            near.update(other for other, bits in ties[node].items() if bits >= join)
        await self._add(near)

    async def read(self) -> set[int]:
        """Edges and decisions among those that are here by now; says whom they can bring together anew."""
        here, fresh, ties = self.around.standings, self._fresh, self._chart.ties
        added = [node for node in here if node not in self._read_already]
        self._read_already.update(added)
        known = [node for node in added if node not in fresh]
        await self._chart.know_ties(self._conn, self._organisation, self._epoch, known)
        for node in known:
            for other, bits in ties[node].items():
                of = (node, other) if node < other else (other, node)
                # What was found out just now goes before what is kept.
                if other in here and other not in fresh and of not in self.around.bits:
                    self._tie(*of, bits)
        given = {"organisation": self._organisation, "nodes": list(here)}
        said = await (await self._conn.execute(SQL["decisions_among"], given, prepare=False)).fetchall()
        self.around.together = {(a, b) for a, b, decision in said if decision == "same"}
        self.around.apart = {(a, b) for a, b, decision in said if decision == "different"}
        for a, b in self.around.together:
            self._near[a].add(b)
            self._near[b].add(a)
        return self._reached(added)

    def _tie(self, a: int, b: int, bits: float) -> None:
        self.around.bits[a, b] = bits
        if bits >= self._join:
            self._near[a].add(b)
            self._near[b].add(a)

    def _reached(self, nodes: Iterable[int]) -> set[int]:
        """These, and all that a way of strong ties leads to. Two clusters are only joined where there is one."""
        found = set(nodes)
        ahead = list(found)
        while ahead:
            for other in self._near.get(ahead.pop(), ()):
                if other not in found:
                    found.add(other)
                    ahead.append(other)
        return found

    async def _add(self, nodes: Iterable[int]) -> set[int]:
        """Take these in with all their entities; says whom."""
        kept = [node for node in nodes if node not in self._fresh or self._fresh[node].entity is not None]
        mates = await self._chart.mates(self._conn, self._organisation, kept)
        for node in mates:
            if node not in self.around.standings:
                self.around.standings[node] = self._chart.standings[node]
        return mates

    def outgrown(self) -> set[int]:
        """Records of the ring whose entity did not come out of it as it went in."""
        sizes: Counter[UUID] = Counter()
        for standing in self.around.standings.values():
            if standing.entity is not None:
                sizes[standing.entity] += 1
        grown: set[int] = set()
        for cluster in self.around.clusters:
            homes = {self.around.standings[node].entity for node in cluster}
            (home,) = homes if len(homes) == 1 else (None,)
            if home is None or sizes[home] != len(cluster):
                grown.update(cluster)
        return grown - self._inside


def partition(around: Neighbourhood, retired: Mapping[int, UUID], preferred: Preferred = None) -> Partition:
    """Let each cluster keep the entity most of it was in, or the one that somebody wants to keep."""
    clusters = around.clusters
    before = {node: standing.entity for node, standing in around.standings.items()}
    owners = _owners(clusters, before, preferred)
    found = Partition()
    for at, cluster in enumerate(clusters):
        entity = owners.get(at)
        if entity is None:
            entity = _revived(cluster, retired, found)
        if entity is None:
            entity = uuid7()
            found.created.add(entity)
        found.clusters[entity] = sorted(cluster)
        found.of |= dict.fromkeys(cluster, entity)
    found.gone = _gone(before, found.of)
    return found


def _owners(
    clusters: Sequence[Sequence[int]], before: Mapping[int, UUID | None], preferred: Preferred
) -> dict[int, UUID]:
    """Each entity goes on as the cluster with most of its records; each cluster as one entity at most."""
    claims = []
    for at, cluster in enumerate(clusters):
        counts = Counter(entity for node in cluster if (entity := before[node]) is not None)
        for entity, count in counts.items():
            is_preferred = preferred is not None and preferred[0] == entity and preferred[1] in cluster
            claims.append((not is_preferred, -count, min(cluster), entity, at))
    owners: dict[int, UUID] = {}
    taken: set[UUID] = set()
    for _, _, _, entity, at in sorted(claims):
        if entity not in taken and at not in owners:
            owners[at] = entity
            taken.add(entity)
    return owners


def _revived(cluster: Sequence[int], retired: Mapping[int, UUID], found: Partition) -> UUID | None:
    """An entity that was made for one of these records, and merged away since: it is what they were."""
    for node in sorted(cluster):
        entity = retired.get(node)
        if entity is not None and entity not in found.revived:
            found.revived.add(entity)
            return entity
    return None


def _gone(before: Mapping[int, UUID | None], after: Mapping[int, UUID]) -> dict[UUID, UUID]:
    heirs: dict[UUID, Counter[UUID]] = defaultdict(Counter)
    for node, entity in before.items():
        if entity is not None:
            heirs[entity][after[node]] += 1
    alive = set(after.values())
    return {
        entity: min(counts, key=lambda heir: (-counts[heir], heir))
        for entity, counts in heirs.items()
        if entity not in alive
    }
