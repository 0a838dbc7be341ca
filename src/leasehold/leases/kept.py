"""Leases of one kind that PostgreSQL alone keeps. A feature brings its rows; granting and ending is the same for all.

In this order everywhere: the feature's own rows, then leases. What waits for a row holds no lease that others want.
Nobody is told that a lease ran out before that is booked, and it is booked by a clock that was looked at. So whatever
may find a lease run out is done by `steadily` or `surely`, which do it again when it turns out otherwise.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from psycopg.errors import DeadlockDetected

from leasehold import audit
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.ids import show
from leasehold.leases import store
from leasehold.leases.models import (
    ANYWHERE,
    NEVER_DELIVERED,
    PREFIX,
    Beaten,
    Ended,
    How,
    Kind,
    Lease,
    LeaseFilter,
    NewLease,
    Report,
)
from leasehold.leases.problems import LeaseLost, lost, unknown
from leasehold.leases.service import Returned
from leasehold.leases.store import Ending, Holding
from leasehold.leases.timekeeper import Timekeeper
from leasehold.metrics import Metrics
from leasehold.problems import Problem, Unavailable

T = TypeVar("T")

_ALL_OF_AN_OWNER = 100_000
_ATTEMPTS = 3


class Overdue(Exception):
    """Somebody asks about leases that seem to have run out and were not booked: there is no answer before they are."""

    def __init__(self, leases: Sequence[UUID]) -> None:
        super().__init__(f"{len(leases)} leases seem to have run out")
        self.leases = leases


class Resources(Protocol):
    """The rows of a feature that are held on leases."""

    @property
    def kind(self) -> Kind: ...

    @property
    def prefix(self) -> str:
        """How their ids begin."""

    @property
    def permission(self) -> Permission:
        """What it takes to hold a lease on one."""

    def read(self, report: Mapping[str, Any]) -> Report:
        """What a holder says of the work; raises InvalidRequest for what makes no sense here."""

    async def hold(self, conn: Conn, organisation: UUID, resources: Sequence[UUID]) -> None:
        """Keep these rows from others until the transaction ends, in the order of ids."""

    async def settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], report: Report | None) -> None:
        """Their leases have ended, by whom it was: leave each row as that says.

        `report` is None when no holder said anything.
        """

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        """One as it is answered; empty when it is gone."""


def nobody(organisation: UUID) -> Caller:
    """Who acts when nobody asked: time itself."""
    return Caller(organisation, None, "leasehold", frozenset())


class KeptLeases:
    """Everything about leases of one kind but whom they are granted to. It is the kind's `Holder`."""

    def __init__(self, db: Database, clock: Timekeeper, resources: Resources, metrics: Metrics, max_age_s: int) -> None:
        self.kind = resources.kind
        self.permission = resources.permission
        self._db = db
        self._clock = clock
        self._resources = resources
        self._metrics = metrics
        self._max_age_s = max_age_s
        # Who is told of sites where something came free; the counter, once there is one.
        self.freed: Callable[[UUID, Iterable[str]], None] = lambda _organisation, _sites: None
        # Whether what a lease is on is wanted no more, where that can be.
        self.is_cancelled: Callable[[Conn, UUID, UUID], Awaitable[bool]] | None = None

    async def steadily(self, organisation: UUID, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Do it in one transaction; taken back and done again when a lease did not end as it seemed to it."""
        for _ in range(_ATTEMPTS):
            try:
                return await self._clock.steadily(partial(self._tried, organisation, work))
            except Overdue as overdue:
                await self._book(organisation, overdue.leases)
        raise Unavailable("Leases end faster than they are booked. Try again.", headers={"Retry-After": "1"})

    async def surely(self, organisation: UUID, work: Callable[[Conn], Awaitable[T]]) -> T:
        """The same for what tells which leases live and books no end: the clock it went by is looked at after it."""

        async def looked(conn: Conn) -> T:
            found = await work(conn)
            await self.look(conn)
            return found

        return await self.steadily(organisation, looked)

    async def look(self, conn: Conn) -> None:
        """Make sure of the clock that a lease was found run out by; else all of it is taken back and done again."""
        await self._clock.look(conn)

    async def grant(self, conn: Conn, organisation: UUID, new: Sequence[NewLease]) -> dict[UUID, Lease]:
        """Leases from now on, by their resource. The feature has picked its rows and kept them from others."""
        if not new:
            return {}
        return {lease.resource: lease for lease in await store.grant(conn, organisation, self.kind, new)}

    async def expire(self, conn: Conn, organisation: UUID, leases: Iterable[UUID]) -> list[Ended]:
        """Book those that ran out. The feature has found their rows and kept them from others.

        The look comes after the judgement: by a clock that jumped, nothing of this transaction may stand.
        """
        ended = await store.end(conn, organisation, leases, Ending(self.kind, How.EXPIRED))
        if ended:
            await self.look(conn)
        await self._settle(conn, nobody(organisation), ended, None)
        return ended

    async def withdraw(
        self, conn: Conn, organisation: UUID, leases: Sequence[UUID], spared: Collection[UUID] = ()
    ) -> list[Ended]:
        """End leases whose rows the feature settles itself: those that live are revoked, but for the spared.

        What had run out and nobody had booked yet ends as it would have ended, by a clock that was looked at. Done by
        `steadily`.
        """
        if not leases:
            return []
        taken = [lease for lease in leases if lease not in spared]
        ended = await store.end(conn, organisation, taken, Ending(self.kind, How.REVOKED))
        late = await store.end(conn, organisation, leases, Ending(self.kind, How.EXPIRED))
        if late:
            await self.look(conn)
        return ended + late

    async def take_back(self, conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> list[Ended]:
        """End leases that nobody ever learned of, or that were not used: as if they had never been."""
        ending = Ending(self.kind, How.RELEASED, reason=NEVER_DELIVERED)
        ended = await self._end(conn, nobody(organisation), leases, ending, None)
        if len(ended) < len(leases) and (left := await store.find(conn, organisation, leases)):
            raise Overdue(list(left))
        return ended

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease:
        async def renew(conn: Conn) -> Lease:
            renewed = await store.renewed(
                await store.renew(conn, caller.organisation, {lease: ttl_seconds}, self._max_age_s)
            )
            if lease in renewed:
                found = renewed[lease]
                if self.is_cancelled is None:
                    return found
                return replace(found, cancel=await self.is_cancelled(conn, caller.organisation, found.resource))
            why = await self.why_not(conn, caller.organisation, lease)
            self._metrics.stale_calls.labels("heartbeat").inc()
            raise why

        return await self.steadily(caller.organisation, renew)

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        holding = Holding(caller.organisation, caller.token, owner, self.kind)

        async def renew(conn: Conn) -> Beaten:
            renewed = await store.renew_owner(conn, holding, ttl_seconds, self._max_age_s)
            if overdue := await store.overdue(conn, holding):
                raise Overdue(overdue)
            return Beaten(renewed, await store.lost_of(conn, holding))

        return await self.steadily(caller.organisation, renew)

    async def release(self, caller: Caller, lease: UUID, report: Mapping[str, Any]) -> Returned:
        said = self._resources.read(report)
        organisation = caller.organisation

        async def release(conn: Conn) -> tuple[list[Ended], Mapping[str, Any]]:
            ending = Ending(self.kind, How.RELEASED, said.outcome, said.reason)
            ended = await self._end(conn, caller, [lease], ending, said)
            past = ended[0] if ended else await self._released_before(conn, organisation, lease)
            return ended, await self._resources.shown(conn, organisation, past.resource)

        ended, resource = await self.steadily(organisation, release)
        self.ended(organisation, ended)
        return Returned(not ended, resource)

    async def revoke(self, caller: Caller, lease: UUID) -> int:
        async def revoke(conn: Conn) -> list[Ended]:
            ended = await self._end(conn, caller, [lease], Ending(self.kind, How.REVOKED), None)
            if not ended:
                why = await self.why_not(conn, caller.organisation, lease)
                if not isinstance(why, LeaseLost):
                    raise why
            return ended

        ended = await self.steadily(caller.organisation, revoke)
        self.ended(caller.organisation, ended)
        return len(ended)

    async def revoke_owner(self, caller: Caller, owner: str) -> int:
        async def revoke(conn: Conn) -> list[Ended]:
            which = LeaseFilter(self.kind, None, owner)
            held = await store.live(conn, caller.organisation, which, None, _ALL_OF_AN_OWNER)
            leases = [lease.id for lease in held]
            return await self._end(conn, caller, leases, Ending(self.kind, How.REVOKED), None)

        ended = await self.surely(caller.organisation, revoke)
        self.ended(caller.organisation, ended)
        return len(ended)

    async def revoke_jobs(self, caller: Caller, jobs: Sequence[str]) -> int:
        async def revoke(conn: Conn) -> list[Ended]:
            held = await store.taken_for(conn, caller.organisation, self.kind, jobs)
            return await self._end(conn, caller, held, Ending(self.kind, How.REVOKED), None)

        ended = await self.surely(caller.organisation, revoke)
        self.ended(caller.organisation, ended)
        return len(ended)

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        only = LeaseFilter(self.kind, which.site, which.owner)
        return await self.surely(
            caller.organisation, lambda conn: store.live(conn, caller.organisation, only, after, limit)
        )

    async def why_not(self, conn: Conn, organisation: UUID, lease: UUID) -> Problem:
        """Why a lease cannot do anything: it ended, or it never was. Raises Overdue when that is still to be booked."""
        # What ends in between is in the second, if not in the first.
        present = await store.find(conn, organisation, [lease])
        past = await store.past(conn, organisation, [lease])
        if lease in past:
            return lost(lease, past[lease].how)
        if lease in present:
            raise Overdue([lease])
        return unknown()

    def ended(self, organisation: UUID, ended: Sequence[Ended]) -> None:
        """The ends are committed: count them, and call those who wait."""
        for one in ended:
            self._metrics.leases_ended.labels(self.kind, one.how).inc()
        if ended:
            self.freed(organisation, {one.site or ANYWHERE for one in ended})

    async def _tried(self, organisation: UUID, work: Callable[[Conn], Awaitable[T]]) -> T:
        attempts = 0
        while True:
            attempts += 1
            try:
                async with self._db.transaction(organisation) as conn:
                    return await work(conn)
            except DeadlockDetected:
                # Nothing of it happened: two who wait for each other in a circle may simply go again.
                if attempts == _ATTEMPTS:
                    raise

    async def _book(self, organisation: UUID, leases: Sequence[UUID]) -> None:
        """Book those of the leases that ran out."""

        async def book(conn: Conn) -> list[Ended]:
            found = await store.find(conn, organisation, leases)
            await self._resources.hold(conn, organisation, sorted(lease.resource for lease in found.values()))
            return await self.expire(conn, organisation, found)

        self.ended(organisation, await self._clock.steadily(partial(self._tried, organisation, book)))

    async def _end(
        self, conn: Conn, caller: Caller, leases: Sequence[UUID], ending: Ending, report: Report | None
    ) -> list[Ended]:
        """End those that live; the others are not told of."""
        found = await store.find(conn, caller.organisation, leases)
        if not found:
            return []
        await self._resources.hold(conn, caller.organisation, sorted(lease.resource for lease in found.values()))
        ended = await store.end(conn, caller.organisation, found, ending)
        await self._settle(conn, caller, ended, report)
        return ended

    async def _settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], report: Report | None) -> None:
        if not ended:
            return
        await self._resources.settle(conn, caller, ended, report)
        # A lease that was simply given back is in the history of leases; the audit does not repeat it.
        notes = [
            audit.Note(
                caller,
                f"lease.{one.how}",
                show(self._resources.prefix, one.resource),
                {"lease": show(PREFIX, one.id)},
            )
            for one in ended
            if one.how is not How.RELEASED
        ]
        await audit.record_many(conn, notes)

    async def _released_before(self, conn: Conn, organisation: UUID, lease: UUID) -> Ended:
        """How a lease ended that was given back before; raises why there is nothing to give back."""
        past = (await store.past(conn, organisation, [lease])).get(lease)
        if past is not None and past.how is How.RELEASED:
            return past
        why = await self.why_not(conn, organisation, lease)
        self._metrics.stale_calls.labels("release").inc()
        raise why
