"""Pairs of a file laid out in columns, as learning wants them, and which of them cannot both be true."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leasehold.linking.expecting import Looked
from leasehold.linking.features import Features
from leasehold.linking.names import NONE
from leasehold.linking.pairing import Pairs
from leasehold.linking.policy import Policy
from leasehold.linking.tables import Tables

_NOTHING = float("nan")  # no information is shared


def look(pairs: Pairs, described: Sequence[Features], tables: Tables) -> Looked:
    """Compare the pairs, field by field."""
    levels, information = [], []
    for left, right in pairs.tolist():
        found = [_name(described[left], described[right], tables)]
        for field, mine, theirs in zip(tables.fields, described[left].values, described[right].values, strict=True):
            if mine is None or theirs is None:
                found.append((-1, _NOTHING))
            else:
                shared = field.information(mine[0]) if mine == theirs else _NOTHING
                found.append((field.outcomes[mine, theirs][0], shared))
        levels.append([level for level, _ in found])
        information.append([shared for _, shared in found])
    width = 1 + len(tables.fields)
    return Looked(
        np.array(levels, dtype=np.int8).reshape(-1, width), np.array(information, dtype=np.float32).reshape(-1, width)
    )


def _name(a: Features, b: Features, tables: Tables) -> tuple[int, float]:
    """The best level of all pairs of names, and the most that is shared at it."""
    outcomes = [tables.alike[mine, theirs] for mine in a.names for theirs in b.names]
    level, shared = min(((level, -shared) for level, _, shared in outcomes if level >= 0), default=(-1, 0.0))
    return level, -shared if 0 <= level < NONE else _NOTHING


def across(pairs: Pairs, described: Sequence[Features], policy: Policy) -> Pairs:
    """Without pairs of one curated source: they are not one thing, and teach nothing of how one thing looks twice."""
    source, curated = _sources(described, policy)
    apart = (source[pairs[:, 0]] == source[pairs[:, 1]]) & curated[pairs[:, 0]]
    return np.asarray(pairs[~apart])


def _sources(described: Sequence[Features], policy: Policy) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    codes = {source: at for at, source in enumerate(sorted({one.source for one in described}))}
    source = np.array([codes[one.source] for one in described], dtype=np.int64)
    return source, np.array([one.source in policy.curated for one in described], dtype=np.bool_)


def rivals(pairs: Pairs, described: Sequence[Features], policy: Policy) -> list[NDArray[np.int64]]:
    """A record is at most one of those in a curated source: pairs of it with that source are rivals."""
    if not policy.curated:
        return []
    source, curated = _sources(described, policy)
    many = int(source.max()) + 1
    sides = []
    for mine, theirs in ((pairs[:, 0], pairs[:, 1]), (pairs[:, 1], pairs[:, 0])):
        _, group = np.unique(mine * many + source[theirs], return_inverse=True)
        sides.append(np.where(curated[theirs], group, -1).astype(np.int64))
    return sides


def population(described: Sequence[Features], policy: Policy) -> float:
    source, curated = _sources(described, policy)
    sizes = np.bincount(source[curated]) if curated.any() else np.zeros(1)
    total = len(described)
    return max(1.0, total * (total - 1) / 2 - float((sizes * (sizes - 1) // 2).sum()))
