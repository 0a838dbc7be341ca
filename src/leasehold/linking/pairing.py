"""Which pairs of a file are looked at to learn from: those that share a key, and some that meet by chance."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from leasehold.linking.features import Features

Pairs = NDArray[np.int64]  # two columns of positions, the lower first

NEAR = 600_000  # comparisons of values that are spent on pairs that share a key
CHANCE = 500_000  # and on pairs that meet by chance


class Blocks:
    """Records by key. Keys are sorted by their rule and by how common they are: each such part is chosen by itself."""

    def __init__(self, described: Sequence[Features], limit: int) -> None:
        self.holders: dict[str, list[int]] = {}
        for at, features in enumerate(described):
            for key in features.keys:
                self.holders.setdefault(key, []).append(at)
        self._classes = (limit // 8, limit // 4, limit // 2, limit)

    def choice(self, key: str) -> tuple[str, int]:
        return key.split("|", 1)[0], bisect_left(self._classes, len(self.holders[key]))

    def costs(self) -> Counter[tuple[str, int]]:
        """How many pairs each choice brings; keys above the limit are no choice."""
        costs: Counter[tuple[str, int]] = Counter()
        for key, holders in self.holders.items():
            choice = self.choice(key)
            if choice[1] < len(self._classes):
                costs[choice] += len(holders) * (len(holders) - 1) // 2
        return costs

    def hubs(self, chosen: Collection[tuple[str, int]]) -> frozenset[str]:
        """Keys that the chosen rules would make and that are too common; ids and addresses only above the limit."""
        prefixes = {prefix for prefix, _ in chosen}
        named = {(prefix, size) for prefix in ("id", "url") for size in range(len(self._classes))}
        allowed = named | {(prefix, 0) for prefix in prefixes} | set(chosen)
        return frozenset(
            key
            for key in self.holders
            if (found := self.choice(key))[0] in prefixes | {"id", "url"} and found not in allowed
        )

    def pairs(self, limit: int, total: int, wanted: int) -> tuple[Pairs, float]:
        """Pairs that share a key no more than `limit` have, and how many each stands for: of too many, a sample."""
        codes: list[NDArray[np.int64]] = []
        triangles: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}
        for holders in self.holders.values():
            size = len(holders)
            if 2 <= size <= limit:
                left, right = triangles.setdefault(size, np.triu_indices(size, 1))
                positions = np.array(holders, dtype=np.int64)
                codes.append(positions[left] * total + positions[right])
        if not codes:
            return np.zeros((0, 2), dtype=np.int64), 1.0
        every = np.unique(np.concatenate(codes))
        found = len(every)
        if found > wanted:  # those whose hash is lowest, which nothing about them decides
            every = np.sort(every[np.argsort(_mixed(every), kind="stable")[:wanted]])
        return np.stack([every // total, every % total], axis=1), found / len(every)


def by_chance(total: int, wanted: int) -> Pairs:
    """Pairs that have nothing to do with each other, the same ones for the same records."""
    possible = total * (total - 1) // 2
    if possible <= wanted:
        left, right = np.triu_indices(total, 1)
        return np.stack([left, right], axis=1).astype(np.int64)
    draws = np.arange(2 * wanted, dtype=np.int64)
    left = (_mixed(draws) % np.uint64(total)).astype(np.int64)
    right = (_mixed(draws + len(draws)) % np.uint64(total)).astype(np.int64)
    pairs = np.stack([np.minimum(left, right), np.maximum(left, right)], axis=1)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]][:wanted])


def _mixed(codes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of whole numbers (splitmix64): chance that is the same every time."""
    z = codes.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
