"""What the writer remembers of the graph itself: who is where, who is with whom, and what ties them.

It is filled as it is asked, and told of every change the writer makes. When somebody else has changed the graph, it
is empty again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from leasehold.db import Conn
from leasehold.entities.intake import label
from leasehold.entities.models import Edge, State
from leasehold.entities.store import SQL

_MOST = 120_000
_STATES = {str(state): state for state in State}


@dataclass(frozen=True, slots=True)
class Standing:
    """A record as the graph sees it."""

    source: str
    state: State
    entity: UUID | None  # None while it is new

    @property
    def label(self) -> str:
        """What its source is held to. What a source has no more may stand beside what it has."""
        return label(self.source, self.state)


class Chart:
    """A part of the graph. What it has of a record's ties, or of an entity's records, it has all of."""

    def __init__(self) -> None:
        self.standings: dict[int, Standing] = {}
        # By record, then by who it is tied to: bits.
        self.ties: dict[int, dict[int, float]] = {}
        self._members: dict[UUID, Collection[int]] = {}

    def clear(self) -> None:
        self.standings.clear()
        self.ties.clear()
        self._members.clear()

    def tidy(self) -> None:
        """Begin anew when it has become too much."""
        if len(self.standings) > _MOST:
            self.clear()

    async def mates(self, conn: Conn, organisation: UUID, nodes: Iterable[int]) -> set[int]:
        """Everybody who is in one entity with one of these, themselves too; who is not kept yet is with nobody."""
        nodes = list(nodes)
        if missing := [node for node in nodes if not self._has_mates(node)]:
            given = {"organisation": organisation, "nodes": missing}
            # Planned each time: only while it knows a list by its content does PostgreSQL look things up in it by hash.
            rows = await (await conn.execute(SQL["mates"], given, prepare=False)).fetchall()
            found: dict[UUID, list[int]] = {}
            for node, source, state, entity in rows:
                self.standings[node] = Standing(source, _STATES[state], entity)
                found.setdefault(entity, []).append(node)
            self._members |= found
        homes = {standing.entity for node in nodes if (standing := self.standings.get(node))}
        return {mate for home in homes if home for mate in self._members[home]}

    def _has_mates(self, node: int) -> bool:
        standing = self.standings.get(node)
        return standing is not None and standing.entity in self._members

    async def know_ties(self, conn: Conn, organisation: UUID, epoch: int, nodes: Iterable[int]) -> None:
        """Have all that ties these to others."""
        missing = [node for node in nodes if node not in self.ties]
        if not missing:
            return
        self.ties |= {node: {} for node in missing}
        given = {"organisation": organisation, "epoch": epoch, "nodes": missing}
        for one, other, bits in await (await conn.execute(SQL["ties"], given, prepare=False)).fetchall():
            self.ties[one][other] = round(bits, 2)

    def settle(self, standings: Mapping[int, Standing], clusters: Mapping[UUID, Collection[int]]) -> None:
        """Note who is where now. These are whole entities, and all of those that were any of these before."""
        for standing in standings.values():
            if standing.entity is not None:
                self._members.pop(standing.entity, None)
        for entity, cluster in clusters.items():
            self._members[entity] = cluster
            for node in cluster:
                before = standings[node]
                self.standings[node] = (
                    before if before.entity == entity else Standing(before.source, before.state, entity)
                )

    def tie(self, fresh: Iterable[int], edges: Iterable[Edge]) -> None:
        """Note all the edges that these records have by now; what ties were known of them are no more."""
        for node in fresh:
            for other in self.ties.get(node, ()):
                if other in self.ties:
                    self.ties[other].pop(node, None)
            self.ties[node] = {}
        for edge in edges:
            if edge.a in self.ties:
                self.ties[edge.a][edge.b] = edge.bits
            if edge.b in self.ties:
                self.ties[edge.b][edge.a] = edge.bits
