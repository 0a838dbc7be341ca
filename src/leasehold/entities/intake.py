"""Records as they are handed over: read strictly, one by one, so that a bad one harms nobody but itself."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson

from leasehold.collectors import normalised_name
from leasehold.entities.models import SELLER, State
from leasehold.linking import Record

MAX_NAME = 500
MAX_ID = 500
MAX_WORDS = 200
MAX_TEXT = 4000
MAX_CONTENT = 64 * 1024

_FIELDS = frozenset(
    ("source", "source_id", "kind", "name", "aliases", "external_ids", "urls", "attributes", "images", "state")
)


# Control characters, and halves of characters that are none alone.
_UNPRINTABLE = re.compile("[\x00-\x1f\ud800-\udfff]")


class Unreadable(Exception):
    """Why something cannot be taken for a record; never quotes more of it than the name of a field."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record that came in, with what it is known by."""

    node: int
    id: UUID
    record: Record
    images: tuple[str, ...]
    state: State
    content: bytes
    digest: bytes


def known_by(kind: str, source: str, source_id: str) -> UUID:
    """The id of a record: the same whenever and wherever it comes in."""
    whole = orjson.dumps([kind, source, source_id])
    return UUID(bytes=hashlib.blake2b(whole, digest_size=16, person=b"leasehold-record").digest())


def node_of(record: UUID) -> int:
    """What a record is called in the graph: half of its id is enough, and quick to compare."""
    return int.from_bytes(record.bytes[:8], "big", signed=True)


def read(item: Any) -> Arrival:
    """One item as it was handed over. Raises Unreadable."""
    if not isinstance(item, Mapping):
        raise Unreadable("this is no object")
    if unknown := sorted(set(item) - _FIELDS):
        raise Unreadable(f"there is no field {unknown[0][:60]!r} in a record")
    source, source_id = _line(item, "source", 100), _line(item, "source_id", MAX_ID)
    kind, name = _line(item, "kind", 100), _line(item, "name", MAX_NAME)
    record = Record(
        source=source,
        source_id=source_id,
        kind=kind,
        name=name,
        aliases=_lines(item.get("aliases"), "aliases"),
        external_ids=_table(item.get("external_ids"), "external_ids"),
        urls=_table(item.get("urls"), "urls"),
        attributes=_attributes(item.get("attributes")),
    )
    return as_arrival(record, _lines(item.get("images"), "images"), _state(item.get("state")))


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Word of a record that its source has no more; what it said is known already, or never was."""

    node: int
    kind: str
    source: str
    state: State
    # The record that its source made it part of.
    heir: int | None = None


def read_tombstone(item: Any) -> Tombstone | None:
    """Raises Unreadable; None for what is no tombstone but a record."""
    if not isinstance(item, Mapping) or "name" in item or item.get("state") in (None, State.LIVE):
        return None
    kind, source = _line(item, "kind", 100), _line(item, "source", 100)
    node = node_of(known_by(kind, source, _line(item, "source_id", MAX_ID)))
    heir = None
    if item.get("merged_into") is not None:
        heir = node_of(known_by(kind, source, _line(item, "merged_into", MAX_ID)))
    return Tombstone(node, kind, source, _state(item["state"]), heir)


def as_arrival(record: Record, images: tuple[str, ...], state: State) -> Arrival:
    content = orjson.dumps(
        {
            "aliases": record.aliases,
            "external_ids": record.external_ids,
            "urls": record.urls,
            "attributes": record.attributes,
            "images": images,
        },
        option=orjson.OPT_SORT_KEYS,
    )
    if len(content) > MAX_CONTENT:
        raise Unreadable(f"it is larger than {MAX_CONTENT // 1024} KiB")
    whole = hashlib.blake2b(orjson.dumps([record.name, state]), digest_size=16)
    whole.update(content)
    id_ = known_by(record.kind, record.source, record.source_id)
    return Arrival(node_of(id_), id_, record, images, state, content, whole.digest())


def as_record(kind: str, source: str, source_id: str, name: str, content: bytes) -> Record:
    """A record as it was kept."""
    held = orjson.loads(content)
    return Record(
        source,
        source_id,
        kind,
        name,
        tuple(held["aliases"]),
        {space: tuple(ids) for space, ids in held["external_ids"].items()},
        {space: tuple(urls) for space, urls in held["urls"].items()},
        held["attributes"],
    )


def naming_itself(record: Record, state: State) -> Record:
    """The record as it is compared: others may name it by the id its source gave it.

    What a source has no more is not held to the source's having each thing once. A seller is compared by what its
    platform calls it and nothing else, whatever id it was handed over by.
    """
    if record.kind == SELLER:
        called = {record.source: (normalised_name(record.name),)}
        return Record(label(record.source, state), record.source_id, SELLER, "", external_ids=called)
    own = record.external_ids.get(record.source, ())
    ids = {**record.external_ids, record.source: tuple(sorted({*own, record.source_id}))}
    return replace(record, external_ids=ids, source=label(record.source, state))


def label(source: str, state: State) -> str:
    return source if state is State.LIVE else f"{source} (gone)"


def _line(item: Mapping[str, Any], field: str, longest: int) -> str:
    value = item.get(field)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f"{field} must be text that is not empty")
    if len(value) > longest:
        raise Unreadable(f"{field} is longer than {longest} characters")
    return _clean(value, field)


def _clean(value: str, field: str) -> str:
    if _UNPRINTABLE.search(value):
        raise Unreadable(f"{field} has control characters in it")
    return value.strip()


def _lines(value: Any, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Unreadable(f"{field} must be a list")
    if len(value) > MAX_WORDS:
        raise Unreadable(f"{field} has more than {MAX_WORDS} entries")
    lines = []
    for line in value:
        if not isinstance(line, str) or len(line) > MAX_TEXT:
            raise Unreadable(f"{field} must be texts of at most {MAX_TEXT} characters")
        lines.append(_clean(line, field))
    # The same said twice says nothing more, and in which order it was said neither.
    return tuple(sorted({line for line in lines if line}))


def _table(value: Any, field: str) -> Mapping[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MAX_WORDS:
        raise Unreadable(f"{field} must be an object of at most {MAX_WORDS} lists")
    table = {}
    for space, words in sorted(value.items()):
        if not isinstance(space, str) or not 0 < len(space) <= 100:
            raise Unreadable(f"{field}: a namespace has 1 to 100 characters")
        table[_clean(space, field)] = _lines([words] if isinstance(words, str) else words, f"{field}.{space[:60]}")
    return {space: words for space, words in table.items() if words}


def _attributes(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MAX_WORDS:
        raise Unreadable(f"attributes must be an object of at most {MAX_WORDS} keys")
    if any(not isinstance(key, str) or not 0 < len(key) <= 100 for key in value):
        raise Unreadable("attributes: a key has 1 to 100 characters")
    return {key: value[key] for key in sorted(value) if value[key] not in (None, "", [], {})}


def _state(value: Any) -> State:
    if value is None:
        return State.LIVE
    try:
        return State(value)
    except ValueError:
        raise Unreadable(f"state must be one of {', '.join(State)}") from None
