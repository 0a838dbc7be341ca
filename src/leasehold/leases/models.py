"""A lease and how it ends, as the house passes them around."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from leasehold.ids import uuid7

PREFIX = "lease"
# Where somebody waits who takes something of any site.
ANYWHERE = ""
# Why a lease ended that was granted to somebody who was gone by then.
NEVER_DELIVERED = "never delivered"
# The longest term there is: what a grant or a renewal can ask for.
LONGEST_S = 3600


class Kind(StrEnum):
    """What a lease is on."""

    ACCOUNT = "account"
    SEED = "seed"
    CAPTURE = "capture"
    TASK = "task"


# The last digit of a lease id says what it is on, so that a call finds the right pool without asking.
_DIGIT = {Kind.ACCOUNT: 1, Kind.SEED: 2, Kind.CAPTURE: 3, Kind.TASK: 4}
_KIND = {digit: kind for kind, digit in _DIGIT.items()}


def new_id(kind: Kind) -> UUID:
    return UUID(int=uuid7().int & ~0xF | _DIGIT[kind])


def kind_of(lease: UUID) -> Kind | None:
    """What the lease is on; None for an id that was never given out."""
    return _KIND.get(lease.int & 0xF)


class How(StrEnum):
    """How a lease ended."""

    RELEASED = "released"  # its holder gave it back
    EXPIRED = "expired"  # its time passed
    REVOKED = "revoked"  # an operator took it
    SUPERSEDED = "superseded"  # the work it was for was given to somebody else


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to use one resource for a time."""

    id: UUID
    kind: Kind
    resource: UUID
    site: str | None
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    expires_at: datetime
    cancel: bool | None = None  # of a task that was renewed: whether it is wanted no more


@dataclass(frozen=True, slots=True)
class Ended:
    """A lease that is over."""

    id: UUID
    kind: Kind
    resource: UUID
    site: str | None
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    ended_at: datetime
    how: How
    outcome: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class LeaseFilter:
    """Which of the leases that are held now."""

    kind: Kind | None = None
    site: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Beaten:
    """What a heartbeat for all leases of an owner did."""

    renewed: list[UUID]
    lost: list[UUID]
    # Seem to have run out; whether they did is not said before it is booked.
    overdue: list[UUID] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What a holder says when it gives a lease back."""

    outcome: str
    reason: str | None = None
    cooldown_seconds: int | None = None
    found: int | None = None
    cursor: Any = None


@dataclass(frozen=True, slots=True)
class NewLease:
    """A lease about to be granted; its fence is one more than that of the last grant of the resource."""

    id: UUID
    resource: UUID
    site: str | None
    fence: int
    owner: str
    token: UUID | None
    job_id: str | None
    ttl_seconds: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why an acquire brought nothing, and when to ask again."""

    reason: str
    detail: str
    next_available_at: datetime | None
    retry_after_seconds: int
    counts: Mapping[str, int]
