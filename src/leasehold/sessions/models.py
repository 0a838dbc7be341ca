"""A session as it is kept, and what leases started from, as the house passes them around."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class How(StrEnum):
    """How a version came to be."""

    MERGED = "merged"
    REPLACED = "replaced"  # an operator put a whole state in its place
    ROLLED_BACK = "rolled_back"
    UNDONE = "undone"  # what one upload did was taken out
    DECIDED = "decided"  # an upload that was put aside was taken in or dropped


@dataclass(frozen=True, slots=True)
class Making:
    """Who made a version, and how. Names and counts, never values."""

    how: How
    by: str  # the token's name
    upload: str
    owner: str | None = None
    lease: UUID | None = None
    source: str | None = None
    health: str | None = None
    base: str | None = None  # fresh, unknown or the version
    counts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be said of a session without showing any of it."""

    cookies: int
    origins: int
    local_storage: int
    databases: int
    files: int
    bytes: int
    has_auth: bool  # a cookie that shows a sign-in is there
    auth_expires_at: float | None  # epoch seconds
    held: list[str] = field(default_factory=list)  # uploads that wait for a decision
    branches: list[str] = field(default_factory=list)  # uploads of runs that were logged out
    forked: list[str] = field(default_factory=list)  # slots that two leases replaced at once
    heavy_hosts: list[str] = field(default_factory=list)  # whose `Cookie:` header is very long
    # The epoch of the site since which nothing of its former addresses is placed on the present one.
    native_since: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of a session as it lies there."""

    rev: int
    version: int
    key_id: str
    sealed: bytes = field(repr=False)
    facts: Facts
    making: Making
    at: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """With what a session was handed out, so that the same can be made again."""

    at: float  # epoch seconds
    include: list[str] = field(default_factory=list)
    is_placed: bool = False  # on the address the site had then


@dataclass(frozen=True, slots=True)
class Start:
    """What the context of a lease holds: what it was given, or, sealed, what it uploaded last."""

    version: int
    note: Note
    key_id: str | None = None
    sealed: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tenancy:
    """The live lease of who speaks for an account."""

    lease: UUID
    owner: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Look:
    """An account's session, as it was read to be changed."""

    account: UUID
    site: str
    rev: int
    version: int  # the last there was, also when there is none any more
    now: datetime
    stored: Stored | None = None
    tenancy: Tenancy | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the list."""

    account: UUID
    site: str
    username: str
    version: int
    facts: Facts
    making: Making
    at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """A new state of what is kept: onto `rev` alone, and for a holder while its lease lives."""

    account: UUID
    rev: int
    version: int
    lease: UUID | None
    key_id: str
    sealed: bytes = field(repr=False)
    facts: Facts
    making: Making
    # What its context holds now, for the next upload of the lease.
    start: Start | None = None
    # The version, where it stays the same: what was put aside did not make it.
    stays: Stored | None = None

    @property
    def made(self) -> Making:
        """Who made the version that is kept."""
        return self.stays.making if self.stays else self.making

    @property
    def made_at(self) -> datetime | None:
        """When, unless it is made now."""
        return self.stays.at if self.stays else None
