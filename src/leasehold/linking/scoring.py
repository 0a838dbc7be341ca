"""How good a partition is, held against the truth."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Score:
    precision: float  # of the pairs that were put together, how many belong together
    recall: float  # of the pairs that belong together, how many were put together
    f1: float
    b3_f1: float  # the same record by record (B-cubed), so that one large entity does not outweigh all others
    largest_false_cluster: int  # records in the largest entity that holds more than one thing

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def score(truth: Mapping[Node, Hashable], found: Iterable[Collection[Node]]) -> Score:
    """`truth` names the thing that each record is; `found` holds each of these records once."""
    sizes = Counter(truth.values())
    wanted = sum(_pairs(size) for size in sizes.values())
    put = right = largest = 0
    b3_precision = b3_recall = 0.0
    for cluster in found:
        parts = Counter(truth[node] for node in cluster)
        put += _pairs(len(cluster))
        right += sum(_pairs(size) for size in parts.values())
        b3_precision += sum(size * size for size in parts.values()) / len(cluster)
        b3_recall += sum(size * size / sizes[label] for label, size in parts.items())
        if len(parts) > 1:
            largest = max(largest, len(cluster))
    precision = right / put if put else 1.0
    recall = right / wanted if wanted else 1.0
    total = len(truth) or 1
    return Score(
        precision=precision,
        recall=recall,
        f1=_harmonic(precision, recall),
        b3_f1=_harmonic(b3_precision / total, b3_recall / total),
        largest_false_cluster=largest,
    )


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0
