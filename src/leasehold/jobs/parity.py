"""Whether two places hold the same results: chunk by chunk, with what differs told by its kind. No I/O."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any

import orjson

_MOST_SAMPLES = 20
_LONGEST_SAMPLE = 10_000  # bytes of JSON
Documents = Sequence[Mapping[str, Any]]
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# Beyond that, a day says more than an hour.
_BY_THE_HOUR = 3 * _DAY


@dataclass(frozen=True, slots=True)
class Sample:
    """One chunk that differs."""

    job: str
    cursor: Any
    kind: str
    paths: Sequence[str] = ()
    # The first document that differs, as each place has it; None where there is none.
    target: Any = None
    shadow: Any = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What came in an hour or a day, and how much of it is equal."""

    from_at: datetime
    lasts: timedelta
    chunks: int
    equal: int


@dataclass(slots=True)
class Report:
    """What a comparison found so far."""

    chunks: int = 0
    equal: int = 0
    late: int = 0  # not in both places yet, and not expected to be
    documents: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    _by_hour: Counter[datetime] = field(default_factory=Counter)
    _equal_by_hour: Counter[datetime] = field(default_factory=Counter)
    _sums: dict[str, int] = field(default_factory=lambda: {"target": 0, "shadow": 0})

    @property
    def share(self) -> float | None:
        """How many of those compared are equal; None when nothing was."""
        return self.equal / self.chunks if self.chunks else None

    @property
    def checksums(self) -> dict[str, str]:
        """Of all documents, whatever their order: equal when the same ones are in both places."""
        return {place: f"{value:064x}" for place, value in self._sums.items()}

    @property
    def over_time(self) -> list[Stretch]:
        """Hour by hour, or day by day where it is long; where nothing came there is none."""
        hours = sorted(self._by_hour)
        lasts = _DAY if hours and hours[-1] - hours[0] > _BY_THE_HOUR else _HOUR
        chunks: Counter[datetime] = Counter()
        equal: Counter[datetime] = Counter()
        for hour in hours:
            begins = hour if lasts == _HOUR else hour.replace(hour=0)
            chunks[begins] += self._by_hour[hour]
            equal[begins] += self._equal_by_hour[hour]
        return [Stretch(begins, lasts, many, equal[begins]) for begins, many in chunks.items()]

    def add(
        self, job: str, cursor: Any, target: Documents, shadow: Documents, ignore: Sequence[str], at: datetime
    ) -> None:
        """Compare one chunk, which came at that time."""
        self.chunks += 1
        hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        self._by_hour[hour] += 1
        for place, documents in (("target", target), ("shadow", shadow)):
            self.documents[place] += len(documents)
            for document in documents:
                self._sums[place] = (self._sums[place] + _sum(_without(document, ignore))) % 2**256
        kind, paths = difference(target, shadow, ignore)
        if kind is None:
            self.equal += 1
            self._equal_by_hour[hour] += 1
            return
        self.kinds[kind] += 1
        if len(self.samples) < _MOST_SAMPLES:
            self.samples.append(Sample(job, cursor, kind, paths, *first_apart(target, shadow, ignore)))


def difference(target: Documents, shadow: Documents, ignore: Sequence[str]) -> tuple[str | None, list[str]]:
    """What kind of difference there is between two chunks, and in which fields; None where there is none."""
    one = [_without(document, ignore) for document in target]
    other = [_without(document, ignore) for document in shadow]
    if len(one) != len(other):
        return ("missing_in_shadow" if len(one) > len(other) else "missing_in_target"), []
    left, right = [_bytes(document) for document in one], [_bytes(document) for document in other]
    if left == right:
        return None, []
    if sorted(left) == sorted(right):
        return "order", []
    paths = sorted({path for pair in zip(one, other, strict=True) for path in _paths(*pair, "")})
    return "fields", paths[:10]


def first_apart(target: Documents, shadow: Documents, ignore: Sequence[str]) -> tuple[Any, Any]:
    """The first pair of documents that differ, without what may; of a long one the beginning, as text."""
    for pair in zip_longest(target, shadow):
        left, right = (None if one is None else _without(one, ignore) for one in pair)
        if _bytes(left) != _bytes(right):
            return _short(left), _short(right)
    return None, None


def _short(document: dict[str, Any] | None) -> Any:
    text = _bytes(document)
    return document if len(text) <= _LONGEST_SAMPLE else text[:_LONGEST_SAMPLE].decode(errors="ignore")


def _paths(left: Any, right: Any, path: str) -> Iterator[str]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in {*left, *right}:
            yield from _paths(left.get(name), right.get(name), f"{path}.{name}" if path else name)
    elif _bytes(left) != _bytes(right):
        yield path


def _without(document: Mapping[str, Any], ignore: Sequence[str]) -> dict[str, Any]:
    """A document without the fields that may differ."""
    if not ignore:
        return dict(document)
    heads = {path for path in ignore if "." not in path}
    kept = {name: value for name, value in document.items() if name not in heads}
    for name, value in kept.items():
        inner = [path.removeprefix(f"{name}.") for path in ignore if path.startswith(f"{name}.")]
        if inner and isinstance(value, dict):
            kept[name] = _without(value, inner)
    return kept


def _bytes(value: Any) -> bytes:
    return orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS)


def _plain(value: Any) -> Any:
    """One number has one form: what one database keeps as 1e3 another gives back as 1000."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sum(document: Mapping[str, Any]) -> int:
    return int.from_bytes(hashlib.sha256(_bytes(document)).digest())
