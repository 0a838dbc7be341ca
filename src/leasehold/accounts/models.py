"""An account and what is asked of its pool, as the house passes them around."""

import asyncio
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.accounts.machine import BREAKER, Breaker, Rules, Standing, State
from leasehold.caller import Caller
from leasehold.idempotency import Once
from leasehold.leases import How, Lease, Report, Waiting


@dataclass(frozen=True, slots=True)
class Account:
    """A login at a site, without its secret."""

    id: UUID
    site: str
    username: str
    state: State
    standing: Standing
    blocked_reason: str | None
    labels: Mapping[str, str]
    priority: int
    cooling_until: datetime | None
    consecutive_failures: int
    unclean_ends: int
    on_probation: bool
    needs_login: bool
    last_leased_at: datetime | None
    last_outcome: str | None
    last_outcome_at: datetime | None
    created_at: datetime
    updated_at: datetime
    # Who holds it now; None when nobody does.
    holder: str | None = None
    lease_id: UUID | None = None
    expires_at: datetime | None = None
    has_session: bool = False


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """An account's secret as it is stored."""

    version: int
    key_id: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class NewAccount:
    site: str
    username: str
    secret: Mapping[str, Any]
    # None: none and 0 for a new account; as they are for one that is there.
    labels: Mapping[str, str] | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What an operator wants changed; None leaves a thing as it is."""

    standing: Standing | None = None
    reason: str | None = None
    secret: Mapping[str, Any] | None = None
    labels: Mapping[str, str] | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class AccountFilter:
    """Which accounts; every part narrows."""

    site: str | None = None
    state: State | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """What a pool must know of a site to hand out its accounts."""

    slug: str
    is_paused: bool
    pause_reason: str | None
    cap: int | None
    rules: Rules
    breaker: Breaker
    # Live leases; counted under the cap's lock, and only where there is a cap.
    live: int = 0

    def with_live(self, live: int) -> "Ground":
        return replace(self, live=live)

    @property
    def has_tripped(self) -> bool:
        """Whether it was the breaker that paused it."""
        return self.pause_reason is not None and self.pause_reason.startswith(BREAKER)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free account that could be given to somebody."""

    id: UUID
    site: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease on an account, with the account and its sealed secret."""

    lease: Lease
    account: Account
    secret: SealedSecret


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody needs: which account of a site, how many, and how urgently."""

    site: str
    priority: int
    count: int
    labels: Mapping[str, str]
    account: UUID | None
    # When it began to wait, by the database's clock; None when it has just come.
    since: datetime | None = None
    is_waiting: bool = False

    def fits(self, candidate: Candidate) -> bool:
        if self.account is not None and candidate.id != self.account:
            return False
        return all(candidate.labels.get(name) == value for name, value in self.labels.items())


@dataclass(slots=True, eq=False)
class Ask:
    """Somebody at the desk who wants accounts."""

    caller: Caller
    site: str
    owner: str
    ttl_seconds: int
    priority: int
    count: int
    labels: Mapping[str, str]
    account: UUID | None
    job_id: str | None
    wait_seconds: float
    once: Once | None
    future: asyncio.Future[Any]
    # Until when it waits, by the loop's own clock.
    deadline: float
    # Its place in the queue of waiters, once it has one.
    ticket: UUID | None = None
    since: datetime | None = None
    # When it was last taken up, by the loop's own clock: what it is granted was granted after that.
    taken_up: float = 0.0
    # How often those who wait at its site had been called when it was last taken up.
    calls: int = 0

    @property
    def subject(self) -> Hashable | None:
        return (self.once.token, self.once.route, self.once.key) if self.once else None

    @property
    def kind(self) -> Hashable:
        """What it asks for: two of one kind are answered alike."""
        return self.site, self.count, tuple(sorted(self.labels.items())), self.account

    @property
    def wish(self) -> Wish:
        return Wish(
            self.site,
            self.priority,
            self.count,
            self.labels,
            self.account,
            self.since,
            is_waiting=self.wait_seconds > 0,
        )


@dataclass(slots=True, eq=False)
class End:
    """Somebody at the desk who ends a lease: its holder, an operator, or we ourselves for a holder that left."""

    lease: UUID
    how: How
    report: Report | None  # what a holder says; None when nobody ever learned of the lease
    caller: Caller
    future: asyncio.Future[Any]
    # The key under which it was granted, when nobody ever learned of it: a repeat shall find nothing, and get another.
    once: Once | None = None

    @property
    def subject(self) -> Hashable | None:
        return self.lease


@dataclass(slots=True, eq=False)
class Renewal:
    """Somebody at the desk who renews a lease."""

    lease: UUID
    ttl_seconds: int | None
    future: asyncio.Future[Any]

    @property
    def subject(self) -> Hashable | None:
        return self.lease


@dataclass(slots=True, eq=False)
class Leave:
    """A waiter that went away: its place in the queue is given up."""

    ticket: UUID
    future: asyncio.Future[Any]

    @property
    def subject(self) -> Hashable | None:
        return None


@dataclass(slots=True, eq=False)
class Withdrawal:
    """Somebody who was granted something and is gone: all of it is given back in one batch, or none."""

    ends: list[End]
    future: asyncio.Future[Any]

    @property
    def subject(self) -> Hashable | None:
        return None


AnySlip = Ask | End | Renewal | Leave | Withdrawal


@dataclass(frozen=True, slots=True)
class Outlook:
    """What there is of a kind of account at a site, and when one comes back."""

    counts: Mapping[State, int]
    next_at: datetime | None  # the earliest end of a rest or of a lease
    now: datetime | None
    holders: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def usable(self) -> int:
        """Those that are free now or will be."""
        return sum(self.counts.get(state, 0) for state in (State.ACTIVE, State.USING, State.COOLING))


@dataclass(frozen=True, slots=True)
class Offer:
    """The answer to an acquire: grants with their opened secrets, or why there are none."""

    grants: list[tuple[Grant, Mapping[str, Any]]]
    waiting: Waiting | None
    # Under which key it was asked for.
    once: Once | None = None
    # What was granted before, as it is by now.
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The answer to a release."""

    already_released: bool
    account: Account | None
