"""Which rules an epoch makes its keys by: few, that bring nearly all pairs that belong together and few others."""

from collections import Counter
from collections.abc import Sequence

from leasehold.linking.features import Features
from leasehold.linking.pairing import Blocks, Pairs

_LOOKED_AT = 5_000
_ENOUGH = 0.001  # a choice that adds less than this part of the pairs is left out
_FREE = 15  # comparisons for each record that may be spent on whatever finds more
_DEAR = 60.0  # beyond them, a choice may cost this many for each pair it adds
_TWICE = 0.1  # what finding a pair for a second time is worth: keys are lost to errors we have not seen

Choice = tuple[str, int]  # a rule by what its keys begin with, and how common its keys are: see `Blocks.choice`


def choose(blocks: Blocks, described: Sequence[Features], sure: Pairs, scale: float) -> list[Choice]:
    """The most profitable first. `sure` are pairs that belong together, each standing for `scale` of them."""
    step = max(1, len(sure) // _LOOKED_AT)
    pairs = sure[::step].tolist()
    keys = {at: set(described[at].keys) for at in {at for pair in pairs for at in pair}}
    found = Counter(frozenset(blocks.choice(key) for key in keys[a] & keys[b]) for a, b in pairs)
    return _greedy(found, blocks.costs(), scale * step, len(described))


def _greedy(found: Counter[frozenset[Choice]], costs: Counter[Choice], scale: float, records: int) -> list[Choice]:
    total = max(1, found.total())
    times: dict[frozenset[Choice], int] = dict.fromkeys(found, 0)
    left = {choice for choices in found for choice in choices if choice in costs}
    chosen: list[Choice] = []
    free = _FREE * records
    while left:
        gains = _gains(found, times, left)
        useful = [
            one for one in left if gains[one] > _ENOUGH * total and costs[one] <= max(free, _DEAR * scale * gains[one])
        ]
        if not useful:
            break
        best = max(useful, key=lambda one: (gains[one] / (costs[one] + records), one))
        chosen.append(best)
        left.discard(best)
        free -= costs[best]
        for choices in times:
            times[choices] += best in choices
    return chosen


def _gains(
    found: Counter[frozenset[Choice]], times: dict[frozenset[Choice], int], left: set[Choice]
) -> dict[Choice, float]:
    gains: dict[Choice, float] = dict.fromkeys(left, 0.0)
    for choices, count in found.items():
        if times[choices] < 2:
            worth = count * (_TWICE if times[choices] else 1.0)
            for choice in choices & left:
                gains[choice] += worth
    return gains
