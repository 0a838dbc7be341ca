"""What is asked for at the counter, who is served in which turn, and what a feature must bring to serve them."""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.idempotency import Once
from leasehold.leases.models import ANYWHERE, Ended, Lease, Waiting
from leasehold.problems import Problem

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller asks for: up to `limit`, of one site or of any."""

    owner: str
    site: str | None = None
    limit: int = 1
    ttl_seconds: int = 120
    wait_seconds: float = 0
    priority: int = 4
    job_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Ask:
    """Somebody at the counter."""

    caller: Caller
    wanted: Wanted
    once: Once | None
    future: asyncio.Future[Any]
    # Until when it waits, by the loop's own clock.
    deadline: float
    # Its place in the queue of waiters, once it has one.
    ticket: UUID | None = None
    since: datetime | None = None
    # How often those who wait at its site had been called when it was last taken up.
    calls: int = 0

    @property
    def site(self) -> str:
        return self.wanted.site or ANYWHERE

    @property
    def priority(self) -> int:
        return self.wanted.priority

    @property
    def subject(self) -> Hashable | None:
        return (self.once.token, self.once.route, self.once.key) if self.once else None


@dataclass(frozen=True, slots=True)
class Claim:
    """One who is to be served, in its turn; `ask` is None for somebody who waits in another process."""

    site: str | None
    limit: int
    labels: Mapping[str, str]
    ask: Ask | None = None
    priority: int = 4
    since: datetime | None = None

    def fits(self, site: str | None, labels: Mapping[str, str]) -> bool:
        here = self.site is None or self.site == site
        return here and all(labels.get(name) == value for name, value in self.labels.items())


@dataclass(frozen=True, slots=True)
class Grant(Generic[R]):
    """A lease with what it is on."""

    lease: Lease
    resource: R


@dataclass(slots=True)
class Deal(Generic[R]):
    """Who got what; who is in none of these got nothing."""

    given: dict[Ask, list[Grant[R]]] = field(default_factory=dict)
    refused: dict[Ask, Problem] = field(default_factory=dict)
    # Sites where something was left for somebody in another process.
    left_at: set[str] = field(default_factory=set)
    # Leases that had run out and were booked on the way: who got nothing looks again.
    expired: list[Ended] = field(default_factory=list)
    # To be done once it is committed.
    after: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Offer(Generic[R]):
    """The answer to an acquire: what was granted, or why nothing was."""

    grants: Sequence[Grant[R]]
    waiting: Waiting | None
    once: Once | None = None


class Stock(Protocol[R]):
    """What a feature has to give."""

    async def deal(self, conn: Conn, organisation: UUID, claims: Sequence[Claim]) -> Deal[R]:
        """Serve the claims in this order: pick rows, raise their fences, grant leases on them (`KeptLeases.grant`).

        For claims without an ask something is left, so that whoever waits in another process finds it.
        """

    async def granted(self, conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> Mapping[UUID, Grant[R]]:
        """What these leases hold, while they live."""

    async def waiting(self, conn: Conn, organisation: UUID, wanted: Wanted) -> Waiting:
        """Why there is nothing for somebody."""

    async def next_in_s(self, conn: Conn, organisation: UUID, site: str | None) -> float | None:
        """In how many seconds something may be there by itself; None when only an event can bring it."""


def deal_out(
    claims: Sequence[Claim], candidates: Iterable[R], fits: Callable[[Claim, R], bool]
) -> list[tuple[Claim, list[R]]]:
    """The plainest way to share: each claim in turn takes the first that fit it, up to its limit."""
    left = list(candidates)
    dealt: list[tuple[Claim, list[R]]] = []
    for claim in claims:
        found: list[R] = []
        others: list[R] = []
        for one in left:
            (found if len(found) < claim.limit and fits(claim, one) else others).append(one)
        dealt.append((claim, found))
        left = others
    return dealt
