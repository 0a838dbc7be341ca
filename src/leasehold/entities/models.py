"""Entities and the records they are made of, as they are inside the house."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

ENTITY = "ent"
RECORD = "rec"
BATCH = "batch"
REVIEW = "rev"
LETTER = "letter"
SELLER = "seller"


class Outcome(StrEnum):
    """What became of one record that was handed over: exactly one of these."""

    UNCHANGED = "unchanged"
    UPDATED = "updated"
    LINKED_EXPLICIT_ID = "linked_explicit_id"
    LINKED_EXTERNAL_URL = "linked_external_url"
    LINKED_NAME_METADATA = "linked_name_metadata"
    LINKED_FACE = "linked_face"
    CREATED = "created"
    REVIEW = "review"  # made an entity of its own, and somebody is asked whether it is another
    CONFLICT = "conflict"  # made an entity of its own, for what speaks against the one it would belong to
    TOMBSTONED = "tombstoned"  # its source says that it is no more
    SUPPRESSED = "suppressed"  # somebody asked to be forgotten
    FAILED = "failed"  # set aside as a dead letter


class State(StrEnum):
    """Whether its source still has a record."""

    LIVE = "live"
    DELETED = "deleted"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that records speak of."""

    id: UUID
    kind: str
    name: str
    aliases: list[str]
    external_ids: dict[str, list[str]]
    urls: dict[str, list[str]]
    attributes: dict[str, Any]
    size: int
    times_seen: int
    first_seen_run_id: UUID | None
    last_seen_run_id: UUID | None
    created_at: datetime
    updated_at: datetime
    sources: list[str]
    merged_into: UUID | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as it is kept."""

    node: int
    id: UUID
    kind: str
    source: str
    source_id: str
    name: str
    content: bytes
    state: State
    entity: UUID
    step: str
    # What it was linked by, as it was known then.
    evidence: str | None
    times_seen: int
    first_seen_run: UUID | None
    last_seen_run: UUID | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the change feed."""

    seq: int
    at: datetime
    entity: UUID
    change: str
    actor: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch of records is."""

    id: UUID
    items: int
    left_over: int
    outcomes: dict[str, int]
    created_at: datetime
    done_at: datetime | None


Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tie:
    """Evidence between two records, part by part; the parts add up to the bits."""

    a: UUID
    b: UUID
    bits: float
    step: str
    parts: list[dict[str, Any]]
    conflicts: list[str]
    epoch: int


@dataclass(slots=True)
class Edge:
    """Evidence between two records, a before b."""

    a: int
    b: int
    bits: float
    step: str
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outside:
    """Evidence that does not follow from what two records say: it adds to what does."""

    bits: float
    part: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Letter:
    """Something that could not be taken for a record."""

    id: UUID
    source: str | None
    source_id: str | None
    batch: UUID
    reason: str
    content: str
    at: datetime
