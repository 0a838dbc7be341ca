"""What a block of code wants to hold, and how long it asks for that. No I/O: both clients drive it."""

import math
import os
import random
import socket
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import httpx

from leasehold.client import calls, seed_calls
from leasehold.client.calls import Call, Span, seconds
from leasehold.client.models import Grants, Waiting
from leasehold.client.problems import LeaseLost, NothingFree, ProblemError, SecretsSealed
from leasehold.client.tenure import Listener, clock
from leasehold.client.transport import BUSY

LONGEST_ASK_S = 30  # what the server holds a request for at the most
_LOSSES = 3  # grants that may be lost on their way to us; each costs an account its rest
_CLOSE_ENOUGH_S = 0.5  # less time than this is not worth another ask


class Owner:
    """The name a client holds leases under: the same as long as it lives, another one in a forked child."""

    def __init__(self) -> None:
        self._tag = uuid.uuid4().hex[:8]

    def __str__(self) -> str:
        return f"{socket.gethostname()[:150]}:{os.getpid()}:{self._tag}"


@dataclass(frozen=True, slots=True)
class Wish:
    """What to hold, and on which terms."""

    site: str
    count: int = 1
    owner: str | None = None
    ttl_s: int = 120
    wait_s: float | None = 0.0
    priority: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    account_id: str | None = None
    job_id: str | None = None
    include_session: bool = False
    on_lost: Listener | None = None
    seeds: int = 0  # to visit with it; then its session comes along


def account(
    site: str,
    *,
    owner: str | None = None,
    ttl: Span = 120,
    wait: Span | None = 0,
    priority: int | None = None,
    labels: Mapping[str, str] | None = None,
    account_id: str | None = None,
    job_id: str | None = None,
    include_session: bool = False,
    on_lost: Listener | None = None,
) -> Wish:
    """Hold an account of the site while the block runs: renewed by itself, given back at the end.

    `wait` is how long to ask for one in all, in seconds; None asks for ever. `on_lost` is called, in a thread of its
    own, the moment the lease is lost.
    """
    wait_s = None if wait is None else _exact_s(wait)
    return Wish(
        site, 1, owner, seconds(ttl), wait_s, priority, labels or {}, account_id, job_id, include_session, on_lost
    )


def accounts_held(
    site: str,
    *,
    count: int,
    owner: str | None = None,
    ttl: Span = 120,
    wait: Span | None = 0,
    priority: int | None = None,
    labels: Mapping[str, str] | None = None,
    job_id: str | None = None,
    include_session: bool = False,
    on_lost: Listener | None = None,
) -> Wish:
    """Hold several accounts of the site while the block runs: all of them or none. Losing one is losing all."""
    wait_s = None if wait is None else _exact_s(wait)
    return Wish(
        site, count, owner, seconds(ttl), wait_s, priority, labels or {}, None, job_id, include_session, on_lost
    )


def checkout(
    site: str,
    *,
    seeds: int = 1,
    owner: str | None = None,
    ttl: Span = 120,
    wait: Span | None = 0,
    priority: int | None = None,
    labels: Mapping[str, str] | None = None,
    job_id: str | None = None,
    on_lost: Listener | None = None,
) -> Wish:
    """Hold an account with its session and up to so many due seeds of the site while the block runs; all or nothing.

    Say of each seed how the visit went (`seed.ok(found=3)`): one that nothing was said of was not visited, and is
    tried again. Losing one is losing all.
    """
    wait_s = None if wait is None else _exact_s(wait)
    return Wish(
        site, 1, owner, seconds(ttl), wait_s, priority, labels or {}, job_id=job_id, on_lost=on_lost, seeds=seeds
    )


def _exact_s(span: Span) -> float:
    return span.total_seconds() if isinstance(span, timedelta) else float(span)


class Asking:
    """An acquire that is sent until it brings something, or until the time for it is up.

    Each ask has a key of its own, under which it is repeated when its answer was lost: a lease that was granted and
    never heard of is found again so. What it grants counts from when the ask was *first* sent.
    """

    def __init__(self, wish: Wish, owner: str, now: Callable[[], float] = clock) -> None:
        self._wish = wish
        self._owner = wish.owner or owner
        self._now = now
        self._until_s = math.inf if wish.wait_s is None else now() + wish.wait_s
        self._held_s = 0
        self._failures = self._losses = 0
        self._call: Call[Grants] | None = None
        self.sent_s = now()

    @property
    def call(self) -> Call[Grants]:
        """What to send now: the ask under way, or the next one."""
        if self._call is None:
            self._held_s = math.ceil(min(self._left_s, LONGEST_ASK_S))
            self._call = self._ask()
            self.sent_s = self._now()
        return self._call

    def pause_after_nothing(self, waiting: Waiting | None) -> float:
        """How long to wait before the next ask; raises NothingFree when the time is up."""
        if self._left_s < _CLOSE_ENOUGH_S:
            raise NothingFree(waiting)
        self._call, self._failures = None, 0
        # A request that was held to its end has done the waiting; one that came back early says how long to stay away.
        if self._held_s and self._now() - self.sent_s > self._held_s - _CLOSE_ENOUGH_S:
            return 0.0
        return min(self._left_s, max(waiting.retry_after_seconds if waiting else 0.0, _some(1.0)))

    def pause_after(self, error: Exception) -> float:
        """How long to wait before asking again in spite of the error; raises it when that would not help."""
        if isinstance(error, LeaseLost):  # what an earlier attempt was granted has ended before we heard of it
            self._call, self._losses = None, self._losses + 1
            if self._losses < _LOSSES:
                return 0.0
        if self._left_s < _CLOSE_ENOUGH_S or not _may_pass(error):
            raise error
        self._failures += 1
        return min(self._left_s, _some(min(5.0, 0.5 * 2**self._failures)))

    @property
    def _left_s(self) -> float:
        return max(0.0, self._until_s - self._now())

    def _ask(self) -> Call[Grants]:
        wish = self._wish
        if wish.seeds:
            return seed_calls.check_out(
                wish.site,
                owner=self._owner,
                seeds=wish.seeds,
                ttl=wish.ttl_s,
                wait=self._held_s,
                priority=wish.priority,
                job_id=wish.job_id,
                labels=wish.labels,
            )
        return calls.acquire_accounts(
            wish.site,
            owner=self._owner,
            ttl=wish.ttl_s,
            wait=self._held_s,
            priority=wish.priority,
            job_id=wish.job_id,
            count=wish.count,
            labels=wish.labels,
            account_id=wish.account_id,
            include_session=wish.include_session,
        )


def _some(most_s: float) -> float:
    """A part of it, so that those who failed together do not come back together."""
    return random.uniform(0.5, 1.0) * most_s  # noqa: S311


def _may_pass(error: Exception) -> bool:
    """Whether waiting helps. A missing key does not come back by itself."""
    if isinstance(error, ProblemError):
        return error.status in BUSY and not isinstance(error, SecretsSealed)
    return isinstance(error, httpx.TransportError)
