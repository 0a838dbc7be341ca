"""Entities as a function of the edges alone: average linkage, whatever order the records came in."""

import heapq
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from leasehold.linking.epochs import Epoch
from leasehold.linking.tables import CENT

Node = TypeVar("Node", bound=Any)  # anything that can be ordered


class _Clusters:
    """Clusters on their way to be entities. All sums are whole hundredths of a bit: no order of adding matters."""

    def __init__(self, count: int) -> None:
        self.members: list[list[int]] = [[index] for index in range(count)]
        self.home = list(range(count))
        self.sums: list[dict[int, int]] = [{} for _ in range(count)]  # by neighbour: what edges say beyond `absent`
        self.apart: dict[int, set[int]] = {}
        self.sources: dict[int, set[str]] = {}

    def may_join(self, a: int, b: int) -> bool:
        if self.apart and b in self.apart.get(a, ()):
            return False
        return not self.sources or self.sources.get(a, set()).isdisjoint(self.sources.get(b, ()))

    def join(self, a: int, b: int) -> tuple[int, int]:
        """Make one of two, the one with more neighbours staying; says which stays and which goes."""
        if len(self.sums[a]) < len(self.sums[b]):
            a, b = b, a
        self.absorb(a, b)
        return a, b

    def absorb(self, a: int, b: int) -> None:
        sums = self.sums
        for member in self.members[b]:
            self.home[member] = a
        self.members[a] += self.members[b]
        self.members[b] = []
        if b in self.sources:
            self.sources[a] = self.sources.get(a, set()) | self.sources.pop(b)
        for other in self.apart.pop(b, ()):
            self.apart[other].discard(b)
            self.apart[other].add(a)
            self.apart.setdefault(a, set()).add(other)
        kept = sums[a]
        for neighbour, worth in sums[b].items():
            theirs = sums[neighbour]
            del theirs[b]
            if neighbour != a:
                kept[neighbour] = theirs[a] = kept.get(neighbour, 0) + worth
        sums[b] = {}


def solve(
    nodes: Iterable[Node],
    edges: Iterable[tuple[Node, Node, float]],
    apart: Iterable[tuple[Node, Node]],
    together: Iterable[tuple[Node, Node]],
    sources: Mapping[Node, str],
    epoch: Epoch,
) -> list[list[Node]]:
    """Sorted lists of nodes that are one thing each.

    The two clusters with the highest average go together first, ties by their lowest nodes, as long as it reaches
    `join`. People's word goes before: `apart` are never in one cluster, `together` are, unless that joins some apart.
    """
    edges = list(edges)
    ordered = sorted(set(nodes))
    index = {node: at for at, node in enumerate(ordered)}
    policy = epoch.policy
    absent, ceiling = round(CENT * policy.absent), round(CENT * policy.ceiling)
    if policy.curated:
        # Where a thing has one record of a source at most, it matters which of several sure ones is the surest.
        ceiling = max(ceiling, *(round(CENT * bits) for _, _, bits in edges), 0)
    clusters = _Clusters(len(ordered))
    sums = clusters.sums
    for one, other, bits in edges:
        a, b = index.get(one), index.get(other)
        if a is not None and b is not None and a != b:
            sums[a][b] = sums[b][a] = min(round(CENT * bits), ceiling) - absent
    if policy.curated:
        clusters.sources = {at: {sources[node]} for node, at in index.items() if sources.get(node) in policy.curated}
    for a, b in _known(apart, index):
        clusters.apart.setdefault(a, set()).add(b)
        clusters.apart.setdefault(b, set()).add(a)
    for a, b in sorted(_known(together, index)):
        left, right = clusters.home[a], clusters.home[b]
        if left != right and right not in clusters.apart.get(left, ()):
            clusters.join(left, right)
    _condense(clusters, ceiling - absent)
    _agglomerate(clusters, absent, round(CENT * policy.join))
    return sorted(sorted(ordered[at] for at in members) for members in clusters.members if members)


def _known(pairs: Iterable[tuple[Node, Node]], index: Mapping[Node, int]) -> set[tuple[int, int]]:
    found = {(index[a], index[b]) for a, b in pairs if a in index and b in index}
    return {(min(pair), max(pair)) for pair in found if pair[0] != pair[1]}


def _condense(clusters: _Clusters, top: int) -> None:
    """Put together what could not be surer, first and without a queue: all pairs between them are at the ceiling."""
    sums, members = clusters.sums, clusters.members
    for a in range(len(sums)):
        if len(members[a]) != 1:
            continue
        near = [b for b, worth in sums[a].items() if b < a and worth == top * len(members[b])]
        for b in sorted(near):
            if clusters.may_join(a, b):
                clusters.absorb(b, a)
                break


def _agglomerate(clusters: _Clusters, absent: int, join: int) -> None:
    """Join the best two until none reaches the threshold. An entry is stale when a side has grown or gone since."""
    members, sums = clusters.members, clusters.sums
    lowest = [min(found, default=-1) for found in members]
    grown = [0] * len(members)
    enough = join - absent  # sums count from `absent`, and so must what they are held against
    heap: list[tuple[float, int, int, int, int, int, int]] = []
    for a, neighbours in enumerate(sums):
        for b, worth in neighbours.items():
            if a < b:
                average = worth / (len(members[a]) * len(members[b]))
                if average >= enough:
                    low, high = (a, b) if lowest[a] < lowest[b] else (b, a)
                    heap.append((-average, lowest[low], lowest[high], low, high, 0, 0))
    heapq.heapify(heap)
    push, pop = heapq.heappush, heapq.heappop
    while heap:
        _, _, _, a, b, at_a, at_b = pop(heap)
        if grown[a] != at_a or grown[b] != at_b or not clusters.may_join(a, b):
            continue
        kept, gone = clusters.join(a, b)
        lowest[kept] = min(lowest[a], lowest[b])
        grown[kept] += 1
        grown[gone] = -1
        size, mine = len(members[kept]), lowest[kept]
        for other, worth in sums[kept].items():
            average = worth / (size * len(members[other]))
            if average >= enough:
                theirs = lowest[other]
                if mine < theirs:
                    push(heap, (-average, mine, theirs, kept, other, grown[kept], grown[other]))
                else:
                    push(heap, (-average, theirs, mine, other, kept, grown[other], grown[kept]))
