"""What a file of records shows before any two are compared: types, frequencies, and what merely repeats the name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from leasehold.linking import values
from leasehold.linking.epochs import NAME, Epoch, Weights
from leasehold.linking.policy import Policy
from leasehold.linking.records import Record
from leasehold.linking.text import plain

_REPEATED = 0.9  # an attribute whose words are in the name this often says nothing new
_NEW_YEAR = 0.02  # a day in 365 is 0.003: where 1 January comes more often, it means that the day is not known


def count(records: Sequence[Record], policy: Policy) -> Epoch:
    """An epoch with the weights believed beforehand, but the types and frequencies of these records."""
    weights = {NAME: Weights.believed(NAME)}
    frequencies: dict[str, Mapping[str, int]] = {NAME: _tokens(records)}
    for key, found in sorted(_columns(records, policy).items()):
        weights[key] = _weights(key, found, policy)
        compare = weights[key].compare
        if compare == "ignore":
            continue
        written = [values.write(compare, value) for _, value in found]
        frequencies[key] = _often(Counter(one for many in written for one in many))
        if compare == "text":
            words = Counter(word for many in written for word in {word for one in many for word in one.split()})
            frequencies[f"{key} words"] = _often(words)
    return Epoch(policy=policy, weights=weights, frequencies=frequencies, records=len(records))


def _columns(records: Sequence[Record], policy: Policy) -> dict[str, list[tuple[Record, Any]]]:
    synonyms = {other: key for key, one in policy.attributes.items() for other in one.also}
    columns: dict[str, list[tuple[Record, Any]]] = {key: [] for key in policy.attributes}
    for record in records:
        for key, value in record.attributes.items():
            if key != NAME and values.texts(value):  # the name is compared as the name
                columns.setdefault(synonyms.get(key, key), []).append((record, value))
    return columns


def _weights(key: str, found: Sequence[tuple[Record, Any]], policy: Policy) -> Weights:
    attribute = policy.attributes.get(key)
    shown = [values.texts(value) for _, value in found]
    compare = attribute.compare if attribute and attribute.compare else values.infer(shown)
    is_named = attribute is not None and attribute.compare != ""
    if compare == "ignore" or (not is_named and (_says_nothing(shown) or _repeats_name(compare, found))):
        return Weights(compare="ignore", same=(), other=())
    believed = Weights.believed(compare)
    if compare != "date":
        return believed
    days = [text for many in shown for one in many if len(text := values.date(one)) == 10]
    unknown = sum(1 for day in days if day.endswith("-01-01")) > _NEW_YEAR * len(days)
    return Weights(compare, believed.same, believed.other, new_year_is_unknown=unknown)


def _says_nothing(shown: Sequence[tuple[str, ...]]) -> bool:
    return len(set(shown)) < 2


def _repeats_name(compare: str, found: Sequence[tuple[Record, Any]]) -> bool:
    if compare not in ("text", "category"):
        return False
    repeated = sum(1 for record, value in found if set(_words(value)) <= set(plain(record.name).split()))
    return repeated >= _REPEATED * len(found)


def _words(value: Any) -> list[str]:
    return [word for text in values.texts(value) for word in plain(text).split()]


def _tokens(records: Sequence[Record]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for record in records:
        counts.update({token for name in (record.name, *record.aliases) for token in plain(name).split()})
    return _often(counts)


def _often(counts: Counter[str]) -> Mapping[str, int]:
    return {value: count for value, count in sorted(counts.items()) if count > 1}
