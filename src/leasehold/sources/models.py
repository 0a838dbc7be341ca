"""Sources as they are inside the house."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from leasehold.db import Conn
from leasehold.sources.machine import Place, Status, Waiting

JSON = dict[str, Any]
LETTER = "letter"


@dataclass(frozen=True, slots=True)
class State:
    """How far the sweeps of a source have come, in one organisation."""

    name: str
    status: Status
    waiting_for: Waiting | None
    place: Place | None
    watermark: datetime | None
    seen: int
    pages: int
    handed: int
    gone: int
    errors: int
    expected: int | None
    per_second: float
    rate_now: float | None
    started_at: datetime | None
    last_sweep: JSON | None
    last_error: str | None
    driven_until: datetime | None  # by whom that is, nobody needs to know


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is known of a thing of a source."""

    source_id: str
    digest: bytes
    state: str
    sweep: str
    number: int  # of the pass


@dataclass(frozen=True, slots=True)
class Gone:
    """A thing that its source has no more, and which one it is part of now, if any."""

    source_id: str
    merged_into: str | None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What came and could not be read, as a whole or in part."""

    id: UUID
    source: str
    source_id: str | None
    reason: str
    payload: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Mapped:
    """A thing as a record, if it can be one, and what of it could not be read."""

    item: Mapping[str, Any] | None
    faults: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Thing:
    """One row of a source, as it came."""

    id: str | None
    raw: Any
    created: datetime | None = None
    updated: datetime | None = None
    merged_ids: Sequence[str] = ()
    merged_into: str | None = None
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a source's list."""

    count: int
    things: Sequence[Thing]
    date: datetime | None  # by the source's own clock


@dataclass(frozen=True, slots=True)
class ListWish:
    page: int
    per_page: int
    newest_first: bool  # by the last change; else the oldest first


class Fetcher(Protocol):
    """Whoever speaks a source's dialect. Every call either answers or raises a FetchError."""

    has_changes: bool  # whether what was changed can be listed first

    async def prepare(self) -> None:
        """Learn what the source says of itself."""

    async def page(self, wish: ListWish) -> Listing: ...

    async def find(self, source_id: str) -> Thing | None: ...

    def read(self, thing: Thing) -> Mapped: ...

    def hide(self, text: str) -> str:
        """A text without what lets us in."""

    async def aclose(self) -> None: ...


class FetchError(Exception):
    """A source did not give what it was asked for; the message says why, without any secret."""


class Unavailable(FetchError):
    """It is down, or does not answer in time; ask again."""


class RateLimited(FetchError):
    """It was asked too often."""

    def __init__(self, retry_after_s: float, message: str) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Denied(FetchError):
    """What should let us in does not."""


class Rejected(FetchError):
    """It understands us and will not: asking again in the same way is no use."""


class Offer(Protocol):
    """Hands records over to whoever writes them, inside the transaction of the page they came with."""

    async def __call__(
        self,
        conn: Conn,
        organisation: UUID,
        source: str,
        items: Sequence[Mapping[str, Any]],
        /,
        *,
        priority: int,
        images_wanted: bool,
    ) -> UUID: ...


class Pressure(Protocol):
    """How much the writer has still to do, in bytes."""

    async def __call__(self, conn: Conn, organisation: UUID, /) -> int: ...


class Retire(Protocol):
    """Tells the writer what a source has no more."""

    async def __call__(self, conn: Conn, organisation: UUID, source: str, gone: Sequence[Gone], /) -> None: ...


class Links(Protocol):
    """How many records of a source were linked to those of others."""

    async def __call__(self, conn: Conn, organisation: UUID, source: str, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where records go."""

    offer: Offer
    queued_bytes: Pressure
    retire: Retire | None = None
    links: Links | None = None


@dataclass(slots=True)
class Taken:
    """What a page brings, on its way into one transaction."""

    items: list[Mapping[str, Any]] = field(default_factory=list)
    sightings: list[tuple[str, bytes]] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)  # who is part of whom now
    letters: list[tuple[str | None, str, str]] = field(default_factory=list)  # whose, why, and what came
    fresh: int = 0  # in this sweep
    unseen: int = 0  # in this pass until now
    new: int = 0  # created since the pass began
