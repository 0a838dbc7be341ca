"""Fellegi and Sunter's weights without labels: expectation and maximisation over pairs that share a key.

Two populations are looked at. Pairs drawn by chance show what strangers look like; pairs that share a key hold nearly
all that are one thing. The prior is over all pairs there are, so what two had to share to be looked at needs no
correction.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = 20
_BELIEF = 0.15  # the part that what is believed beforehand has in how one thing looks twice
_DECIDED = 20.0  # what a reviewer decided counts as much as this many pairs
_SEEN = 20  # strangers by chance that show a level, from where their share is trusted
_MOST, _LEAST = 18.0, -8.0  # bits of one level


@dataclass
class Looked:
    """Pairs as levels (-1: missing) and shared information, one column for each field."""

    levels: NDArray[np.int8]
    information: NDArray[np.float32]
    rivals: list[NDArray[np.int64]] = field(default_factory=list)  # by side: pairs of which at most one can be true
    decided: Floats | None = None  # what people said of the last of these pairs: 1 for the same, 0 for not


@dataclass
class Model:
    """One array of levels for each field."""

    same: list[Floats]
    other: list[Floats]
    usual: list[Floats]
    odds: float  # natural logarithm of the prior


@dataclass(frozen=True)
class Frame:
    """What does not change from round to round."""

    near: Looked
    chance: Looked
    scale: float  # how many pairs each near one stands for
    population: float  # all pairs there are
    believed: Model
    moves: list[tuple[float, float]]  # by field: how far rarity moves its bits
    ordered: list[bool]  # by field: whether a later level never says more than an earlier one


def fit(frame: Frame, model: Model) -> tuple[Model, Floats]:
    """The model the pairs agree on, and how sure each near pair is in it."""
    for _ in range(ROUNDS):
        model = _maximise(frame, model)
    return model, expect(frame, model, frame.near)


def expect(frame: Frame, model: Model, looked: Looked) -> Floats:
    """How likely each pair is one thing."""
    total = np.full(len(looked.levels), model.odds)
    for at, (low, high) in enumerate(frame.moves):
        levels = looked.levels[:, at]
        seen = levels >= 0
        total[seen] += np.log(model.same[at] / model.other[at])[levels[seen]]
        shared = seen & ~np.isnan(looked.information[:, at])
        rarer = looked.information[shared, at] - model.usual[at][levels[shared]]
        total[shared] += np.log(2) * np.clip(rarer, low, high)
    odds = np.exp(np.clip(total, -40, 40))
    against = np.ones(len(odds))
    for rivals in looked.rivals:  # each pair's own odds come back among those of its rivals
        of_all = np.bincount(rivals[rivals >= 0], odds[rivals >= 0], rivals.max(initial=0) + 1)
        against += np.where(rivals >= 0, of_all[rivals] - odds, 0.0)
    sure: Floats = odds / (against + odds)
    if looked.decided is not None:
        sure[len(sure) - len(looked.decided) :] = looked.decided
    return sure


def _maximise(frame: Frame, model: Model) -> Model:
    """One round: who belongs together by this model, and the model that follows from it."""
    near, chance = frame.near, frame.chance
    sure, unsure = expect(frame, model, near), expect(frame, model, chance)
    weight = np.full(len(sure), frame.scale)
    if near.decided is not None:
        weight[len(sure) - len(near.decided) :] = _DECIDED * frame.scale
    same, other, usual = [], [], []
    for at in range(near.levels.shape[1]):
        size = len(model.same[at])
        hits = _tally(near.levels[:, at], sure * weight, size)
        strangers = _tally(near.levels[:, at], (1 - sure) * weight, size)
        drawn = _tally(chance.levels[:, at], 1 - unsure, size)
        m = (1 - _BELIEF) * hits / max(1.0, hits.sum()) + _BELIEF * frame.believed.same[at]
        u = _strangers(drawn, strangers, frame.population * drawn.sum() / max(1, len(unsure)))
        bits = _smoothed(np.log2(m / u), hits + strangers + drawn >= 1, frame.ordered[at])
        same.append(u * 2.0**bits)
        other.append(u)
        usual.append(_usual(frame, (sure, unsure), at, size))
    odds = float(np.log(max(1.0, frame.scale * sure.sum()) / frame.population))
    return Model(same, other, usual, odds)


def _strangers(drawn: Floats, strangers: Floats, population: float) -> Floats:
    """How often strangers show each level: by chance where that was seen often enough, else among near pairs."""
    total = max(1.0, drawn.sum())
    share = drawn / total
    rare = np.minimum(np.maximum((strangers + 0.5) / max(1.0, population), share), (drawn + 1.0) / total)
    shown: Floats = np.maximum(np.where(drawn >= _SEEN, share, rare), 1e-9)
    return shown


def _smoothed(bits: Floats, seen: NDArray[np.bool_], ordered: bool) -> Floats:
    """Levels that nobody has shown say what their neighbours say; where order is known, it is kept."""
    bits = np.clip(bits, _LEAST, _MOST)
    where = np.flatnonzero(seen)
    if len(where) and len(where) < len(bits):
        nearest = np.interp(np.arange(len(bits)), where, bits[where])
        bits = np.where(seen, bits, nearest if ordered else np.minimum(nearest, 0.0))
    return np.minimum.accumulate(bits) if ordered else bits


def _usual(frame: Frame, likely: tuple[Floats, Floats], at: int, size: int) -> Floats:
    """The information that strangers share at a level, where they share any."""
    totals, counts = np.zeros(size), np.zeros(size)
    most = 0.0
    for looked, sure in zip((frame.near, frame.chance), likely, strict=True):
        shared = (looked.levels[:, at] >= 0) & ~np.isnan(looked.information[:, at])
        levels, found = looked.levels[shared, at], looked.information[shared, at]
        totals += np.bincount(levels, (1 - sure[shared]) * found, size)
        counts += np.bincount(levels, 1 - sure[shared], size)
        most = max(most, float(found.max(initial=0.0)))
    # Where no stranger was seen, what is shared is as rare as can be already, and gains nothing by it.
    return np.where(counts >= 1, totals / np.maximum(counts, 1e-9), most)


def _tally(levels: NDArray[np.int8], weights: Floats, size: int) -> Floats:
    seen = levels >= 0
    return np.bincount(levels[seen], weights[seen], size).astype(np.float64)
