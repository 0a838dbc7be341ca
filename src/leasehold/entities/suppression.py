"""Who asked to be forgotten: known by a keyed hash alone, so that they do not come back with the next sweep."""

import hmac
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from leasehold.collectors import normalised_name
from leasehold.entities.models import SELLER
from leasehold.linking import Record


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The marks of an organisation, and the key they are made with."""

    key: bytes = b""
    marks: frozenset[bytes] = field(default_factory=frozenset)

    def has(self, record: Record) -> bool:
        return bool(self.marks) and not self.marks.isdisjoint(marks(self.key, record))


def marks(key: bytes, record: Record) -> Collection[bytes]:
    """A mark for each id a record goes by. Who was found under one of them is not found again under another."""
    own = (record.source, record.source_id)
    named = {own, *((space, one) for space, several in record.external_ids.items() for one in several)}
    if record.kind == SELLER:
        named.add((record.source, normalised_name(record.name)))
    return {mark(key, (record.kind, *pair)) for pair in named}


def mark(key: bytes, words: Iterable[str]) -> bytes:
    return hmac.digest(key, "\x1f".join(words).encode(), "sha256")
