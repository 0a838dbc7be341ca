"""What an entity shows: put together from its records, the same whatever order they came in."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from leasehold.linking import Record

_MOST_ALIASES = 100


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of an entity."""

    name: str = ""
    aliases: tuple[str, ...] = ()
    external_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    urls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def identifiers(self) -> set[tuple[str, str]]:
        return {(space, one) for space, several in self.external_ids.items() for one in several}

    def addresses(self) -> set[tuple[str, str]]:
        return {(space, one) for space, several in self.urls.items() for one in several}

    def names(self) -> set[str]:
        return {self.name, *self.aliases}


def card(records: Sequence[Record]) -> Card:
    """The most said stands; what is said as often, by what sorts first. A record names itself, too."""
    if len(records) == 1:
        (only,) = records
        ids = _joined([only.external_ids, {only.source: (only.source_id,)}])
        return Card(only.name, only.aliases, ids, only.urls, only.attributes)
    name = _most_said(record.name for record in records)
    aliases = {alias for record in records for alias in (record.name, *record.aliases)} - {name}
    own: list[Mapping[str, tuple[str, ...]]] = [{record.source: (record.source_id,)} for record in records]
    keys = sorted({key for record in records for key in record.attributes})
    return Card(
        name,
        tuple(sorted(aliases)[:_MOST_ALIASES]),
        _joined([*(record.external_ids for record in records), *own]),
        _joined(record.urls for record in records),
        {key: _agreed(record.attributes[key] for record in records if key in record.attributes) for key in keys},
    )


def _joined(tables: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    joined: dict[str, set[str]] = {}
    for table in tables:
        for space, words in table.items():
            joined.setdefault(space, set()).update(words)
    return {space: tuple(sorted(joined[space])) for space in sorted(joined)}


def _most_said(words: Iterable[str]) -> str:
    said = list(words)
    if len(set(said)) == 1:
        return said[0]
    counts = Counter(said)
    return min(counts, key=lambda word: (-counts[word], word))


def _agreed(values: Iterable[Any]) -> Any:
    values = list(values)
    if all(type(value) is str for value in values):
        return _most_said(values)
    written = _most_said(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode() for value in values)
    return orjson.loads(written)
