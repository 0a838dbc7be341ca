"""A seed and what is asked of it, as the house passes them around."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from leasehold.seeds.schedule import RhythmWish
from leasehold.sites import Reference, Registry

PREFIX: Final = "seed"


class _Unsaid:
    """Stands where nothing was said, because None says something."""


UNSAID: Final = _Unsaid()
# Stands for the present moment, which only the database knows.
DUE_NOW: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Seed:
    """An address to be visited again and again."""

    id: UUID
    site: str
    sub: str
    rest: str
    original_url: str
    kind: str
    priority: int
    interval_seconds: int
    min_interval_seconds: int
    max_interval_seconds: int
    next_due_at: datetime
    cursor: Any
    labels: Mapping[str, str]
    enabled: bool
    consecutive_failures: int
    last_outcome: str | None
    last_found: int | None
    last_visited_at: datetime | None
    created_at: datetime
    updated_at: datetime
    # Who holds it now; None when nobody does.
    holder: str | None = None
    lease_id: UUID | None = None
    expires_at: datetime | None = None
    # At the site's current address; None when that has no place for it.
    url: str | None = None

    def placed(self, registry: Registry) -> "Seed":
        """With its URL as it is now."""
        url = registry.render(Reference(self.site, self.sub, self.rest))
        return replace(self, url=url if isinstance(url, str) else None)


@dataclass(frozen=True, slots=True)
class PastVisit:
    """How one visit of a seed went, and what became of the interval."""

    number: int
    at: datetime
    outcome: str
    found: int | None
    previous_interval_seconds: int
    interval_seconds: int
    next_due_at: datetime
    owner: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class SeedWish:
    """What somebody says of a seed; None leaves a thing as it is, or as it usually is."""

    kind: str | None = None
    priority: int | None = None
    rhythm: RhythmWish = field(default_factory=RhythmWish)
    labels: Mapping[str, str] | None = None
    enabled: bool | None = None
    cursor: Any = UNSAID
    next_due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewSeed:
    """A seed to be made, or changed where its address is there already."""

    url: str
    reference: Reference
    wish: SeedWish


@dataclass(frozen=True, slots=True)
class SeedFilter:
    """Which seeds; every part narrows."""

    site: str | None = None
    due: bool | None = None
    enabled: bool | None = None
    kind: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Upserted:
    """What became of many, each in its place."""

    created: int
    updated: int
    items: list[Seed]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many seeds fall due: now, and in each of the next hours."""

    overdue: int
    hours: list[int]
    minutes: list[int]  # of the next hour, five at a time
