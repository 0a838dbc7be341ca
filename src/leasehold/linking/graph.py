"""The graph in memory: the reference that a writer with a database must equal."""

from collections.abc import Iterable

from leasehold.linking.comparing import compare, is_worth_telling, share_an_id_or_address, weigh_cents
from leasehold.linking.epochs import Epoch
from leasehold.linking.features import Features, describe
from leasehold.linking.records import Record
from leasehold.linking.solving import solve
from leasehold.linking.tables import CENT, tables_of

Place = tuple[str, str, str]


class Graph:
    """Records, the edges between them, and the entities they make. A record that comes again replaces itself."""

    def __init__(
        self,
        epoch: Epoch,
        *,
        apart: Iterable[tuple[Place, Place]] = (),
        together: Iterable[tuple[Place, Place]] = (),
    ) -> None:
        self.epoch = epoch
        self._tables = tables_of(epoch)
        self._handles: dict[Place, int] = {}  # small numbers for places, since they are looked up all the time
        self._places: list[Place] = []
        self._features: dict[int, Features] = {}
        self._holders: dict[str, set[int]] = {}  # by key
        self._edges: dict[int, dict[int, float]] = {}
        self._entity: dict[int, list[int]] = {}
        self._apart = self._pairs(apart)
        self._together = self._pairs(together)

    def add(self, records: Iterable[Record]) -> None:
        """Compare new records with their like, and solve what they touch again."""
        batch = {self._handle(record.place): record for record in records}
        touched = set(batch)
        for handle in batch:
            touched |= self._remove(handle)
        for handle, record in batch.items():
            self._link(handle, describe(record, self.epoch))
        self._solve(touched)

    def partition(self) -> list[list[Place]]:
        """All entities, each as the sorted places of its records."""
        entities = {id(members): members for members in self._entity.values()}
        return sorted(sorted(self._places[one] for one in members) for members in entities.values())

    def edges(self) -> list[tuple[Place, Place, float]]:
        """Every edge once, the lower place first."""
        places = self._places
        found = ((places[a], places[b], bits) for a, near in self._edges.items() for b, bits in near.items())
        return sorted(edge for edge in found if edge[0] < edge[1])

    def _handle(self, place: Place) -> int:
        handle = self._handles.setdefault(place, len(self._places))
        if handle == len(self._places):
            self._places.append(place)
        return handle

    def _pairs(self, pairs: Iterable[tuple[Place, Place]]) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for a, b in pairs:
            found.setdefault(self._handle(a), set()).add(self._handle(b))
            found.setdefault(self._handle(b), set()).add(self._handle(a))
        return found

    def _remove(self, handle: int) -> set[int]:
        """Take a record out; says whom that touches."""
        old = self._features.pop(handle, None)
        if old is None:
            return set()
        for key in old.keys:
            self._holders[key].discard(handle)
        for neighbour in self._edges.pop(handle):
            del self._edges[neighbour][handle]
        return set(self._entity.pop(handle))

    def _link(self, handle: int, features: Features) -> None:
        floor = round(CENT * self.epoch.policy.keep)
        like: set[int] = set()
        for key in features.keys:
            holders = self._holders.get(key)
            if holders is None:
                self._holders[key] = {handle}
            else:
                like |= holders
                holders.add(handle)
        mine: dict[int, float] = {}
        for other in like:
            theirs = self._features[other]
            if theirs.kind == features.kind:
                bits = self._bits(features, theirs, floor)
                if bits is not None:
                    mine[other] = self._edges[other][handle] = bits
        self._edges[handle] = mine
        self._features[handle] = features

    def _bits(self, mine: Features, theirs: Features, floor: int) -> float | None:
        cents = weigh_cents(mine, theirs, self._tables, floor)
        if cents is not None:
            return cents / CENT
        policy = self.epoch.policy
        if not share_an_id_or_address(mine, theirs, policy):
            return None
        evidence = compare(mine, theirs, self.epoch)
        parts = [(part.field, part.bits) for part in evidence.parts]
        return evidence.bits if is_worth_telling(evidence.bits, parts, policy) else None

    def _solve(self, touched: set[int]) -> None:
        """Only components that something touched; an edge below `join` cannot carry a merge, so it ends a component."""
        join = self.epoch.policy.join
        seen: set[int] = set()
        for start in touched:
            if start in seen or start not in self._features:
                continue
            component, todo = {start}, [start]
            while todo:
                handle = todo.pop()
                near = {other for other, bits in self._edges[handle].items() if bits >= join}
                near |= self._together.get(handle, set()) & self._features.keys()
                near -= component
                component |= near
                todo += near
            seen |= component
            self._settle(component)

    def _settle(self, component: set[int]) -> None:
        """Solved by rank: numbers are quicker than places, and in the same order."""
        ordered = sorted(component, key=self._places.__getitem__)
        rank = {handle: at for at, handle in enumerate(ordered)}
        edges = [
            (at, rank[other], bits)
            for at, handle in enumerate(ordered)
            for other, bits in self._edges[handle].items()
            if handle < other and other in component
        ]
        apart, together = self._inside(self._apart, rank), self._inside(self._together, rank)
        sources = {at: self._features[handle].source for at, handle in enumerate(ordered)}
        for members in solve(range(len(ordered)), edges, apart, together, sources, self.epoch):
            entity = [ordered[at] for at in members]
            for handle in entity:
                self._entity[handle] = entity

    def _inside(self, pairs: dict[int, set[int]], rank: dict[int, int]) -> list[tuple[int, int]]:
        return [(rank[a], rank[b]) for a in rank for b in pairs.get(a, ()) if b in rank] if pairs else []
