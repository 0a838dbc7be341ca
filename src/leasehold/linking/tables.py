"""An epoch made ready for work: everything that can be looked up is worked out once."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from leasehold.linking import values
from leasehold.linking.epochs import NAME, RARE, Epoch, Weights
from leasehold.linking.memory import Memory
from leasehold.linking.names import NONE, Name, explainer, name_level

if TYPE_CHECKING:
    from leasehold.linking.keys import Keymaker

CENT = 100  # bits are added up as whole hundredths, so that no order of adding changes a sum
VALUE_MOVES = (-6.0, 4.0)  # how far rarity moves the bits of an attribute
NAME_MOVES = (-6.0, 6.0)  # and those of the name

Written = tuple[str, ...]  # the values of one attribute of one record


class Field:
    """One attribute: how two of its values compare, and what that is worth."""

    __slots__ = (
        "_frequencies",
        "_records",
        "_texts",
        "_weight",
        "_words",
        "cents",
        "key",
        "most",
        "outcomes",
        "weights",
    )

    def __init__(self, key: str, weights: Weights, epoch: Epoch) -> None:
        attribute = epoch.policy.attributes.get(key)
        self.key = key
        self.weights = weights
        self._weight = attribute.weight if attribute else 1.0
        self._frequencies = epoch.frequencies.get(key, {})
        self._records = epoch.records
        self._words = Words(epoch.frequencies.get(f"{key} words", {}), epoch.records)
        self._texts: Memory[str, values.Text] = Memory(lambda text: values.Text(text, self._words))
        self.cents = tuple(round(CENT * self._weight * bits) for bits in weights.bits())
        highest = max(0.0, VALUE_MOVES[1]) if weights.usual else 0.0
        self.most = max(0, max(self.cents) + round(CENT * self._weight * highest))
        # By two values: the best level over all pairs of them, and its worth in hundredths of a bit.
        self.outcomes: Memory[tuple[Written, Written], tuple[int, int]] = Memory(self._compare)

    def information(self, value: str) -> float:
        """How much it says, in bits, that somebody has this value."""
        return math.log2(self._records / self._frequencies.get(value, 1)) if self._records else 0.0

    def rarest(self, value: str, count: int) -> list[str]:
        """The words of a text that say most."""
        return sorted(set(value.split()), key=lambda word: (-self._words[word], word))[:count]

    def _compare(self, pair: tuple[Written, Written]) -> tuple[int, int]:
        a, b = pair
        shared = set(a) & set(b)
        if not shared:
            level = min(self._level(one, other) for one in a for other in b)
            return level, self.cents[level]
        value = max(shared, key=lambda one: (self.information(one), one))
        level = self._level(value, value)
        if not self.weights.usual:
            return level, self.cents[level]
        rarer = _within(VALUE_MOVES, self.information(value) - self.weights.usual[level])
        return level, self.cents[level] + round(CENT * self._weight * rarer)

    def _level(self, a: str, b: str) -> int:
        if a > b:
            a, b = b, a
        how = self.weights.compare
        if how == "date":
            return values.date_level(a, b, new_year_is_unknown=self.weights.new_year_is_unknown)
        if how == "number":
            return values.number_level(a, b)
        if how == "category":
            return values.category_level(a, b)
        return values.text_level(self._texts[a], self._texts[b])


class Tables:
    __slots__ = (
        "_cents",
        "_usual",
        "alike",
        "epoch",
        "fields",
        "hubs",
        "keymaker",
        "most",
        "names",
        "odds",
        "position",
        "steps",
        "synonyms",
        "types",
    )

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.hubs = epoch.hubs
        self.odds = round(CENT * epoch.odds)
        self.keymaker: Keymaker | None = None  # made when the first record is described
        words = Words(epoch.frequencies.get(NAME, {}), epoch.records)
        self.names: Memory[str, Name] = Memory(lambda raw: Name(raw, words))
        explained = explainer(nicknames=epoch.policy.nicknames)
        self._cents = tuple(round(CENT * bits) for bits in epoch.weights[NAME].bits())
        self._usual = epoch.weights[NAME].usual
        # By two names: level, worth in hundredths of a bit, and the information they share.
        self.alike: Memory[tuple[Name, Name], tuple[int, int, float]] = Memory(
            lambda pair: self._weighed(*name_level(*pair, explained))
        )
        self.synonyms = {other: key for key, one in epoch.policy.attributes.items() for other in (key, *one.also)}
        self.fields = tuple(
            Field(key, weights, epoch)
            for key, weights in sorted(epoch.weights.items())
            if key != NAME and weights.compare != "ignore"
        )
        self.position = {one.key: index for index, one in enumerate(self.fields)}
        self.most = sum(one.most for one in self.fields) + max(self._cents) + round(CENT * NAME_MOVES[1])
        self.steps = tuple(self._steps())
        # A key that the epoch does not know is compared by the type it shows.
        bare = Epoch(epoch.policy, {})
        self.types = {how: Field(f"any {how}", Weights.believed(how), bare) for how in values.LEVELS}

    def _steps(self) -> Iterator[tuple[int, Memory[tuple[Written, Written], tuple[int, int]], int]]:
        """The fields in the order they are weighed in, and how much may still come after each.

        Those first that say no most clearly: most pairs are strangers, and the sooner that is clear the better.
        """
        reach = self.most
        for at in sorted(range(len(self.fields)), key=lambda at: (min(self.fields[at].cents), at)):
            reach -= self.fields[at].most
            yield at, self.fields[at].outcomes, reach

    def _weighed(self, level: int, shared: float) -> tuple[int, int, float]:
        """The rarer what two names share, the more it says."""
        if level < 0:
            return level, 0, shared
        cents = self._cents[level]
        if self._usual and level != NONE:
            cents += round(CENT * _within(NAME_MOVES, shared - self._usual[level]))
        return level, cents, shared


class Words(dict[str, float]):
    """How much each word says, in bits; one that was not counted says as much as a word can."""

    __slots__ = ("_rare",)

    def __init__(self, counts: Mapping[str, int], records: int) -> None:
        super().__init__({word: max(0.2, math.log2(records / count)) for word, count in counts.items()})
        self._rare = math.log2(records) if records > 1 else -math.log2(RARE)

    def __missing__(self, word: str) -> float:
        return self._rare


def _within(bounds: tuple[float, float], bits: float) -> float:
    return max(bounds[0], min(bounds[1], bits))


_KEPT: OrderedDict[str, Tables] = OrderedDict()  # by version: a digest, so an epoch's tables are never another's
_AT_MOST = 16


def tables_of(epoch: Epoch) -> Tables:
    found = _KEPT.get(epoch.version)
    if found is None:
        found = _KEPT[epoch.version] = Tables(epoch)
        if len(_KEPT) > _AT_MOST:
            _KEPT.popitem(last=False)
    return found
