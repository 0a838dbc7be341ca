"""The counter: whoever wants resources of a kind asks here. Served in turn, together, never twice, never for nobody.

A feature brings the stock: what there is and who gets which of it. Here is what is the same for all: requests that
arrive while others are served go together; who finds nothing may wait, in a queue that all processes share; a repeat
under the same key is told of the same leases; what was granted to somebody who is gone is given back.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from leasehold import idempotency
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import uuid7
from leasehold.leases import store
from leasehold.leases.asking import Ask, Claim, Deal, Grant, Offer, Stock, Wanted
from leasehold.leases.desk import Desk
from leasehold.leases.kept import KeptLeases, Overdue
from leasehold.leases.models import ANYWHERE, Ended, Waiting
from leasehold.leases.store import Place
from leasehold.leases.waiting import WaitingRoom
from leasehold.metrics import Metrics
from leasehold.problems import Problem

R = TypeVar("R")
_JUST_CAME = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Served(Generic[R]):
    """What a batch did, to be told once it is committed."""

    deal: Deal[R] = field(default_factory=Deal)
    repeated: dict[Ask, Offer[R] | Problem] = field(default_factory=dict)
    empty: dict[Ask, Waiting] = field(default_factory=dict)
    queued: dict[Ask, tuple[UUID, datetime]] = field(default_factory=dict)
    parked: list[Ask] = field(default_factory=list)
    again: list[Ask] = field(default_factory=list)  # something has come free meanwhile
    next_in_s: dict[str, float] = field(default_factory=dict)


class Counter(Generic[R]):
    """The acquires of one kind."""

    def __init__(self, db: Database, kept: KeptLeases, stock: Stock[R], metrics: Metrics, together: int = 256) -> None:
        """At most so many are served `together`: fewer where each may take much."""
        self._db = db
        self._kept = kept
        self._stock = stock
        self._metrics = metrics
        self._errands: set[asyncio.Task[None]] = set()
        self.desk: Desk[Ask] = Desk(self._work, most=together)
        self.room: WaitingRoom[Ask] = WaitingRoom(db, self.desk.put, kept.kind)
        kept.freed = self.room.freed

    async def acquire(self, caller: Caller, wanted: Wanted, once: Once | None = None) -> Offer[R]:
        """As many as there are of what was asked for, or none; waits as long as the caller said it would."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        ask = Ask(caller, wanted, once, loop.create_future(), began + wanted.wait_seconds)
        self.desk.put(caller.organisation, ask)
        try:
            offer: Offer[R] = await ask.future
        except asyncio.CancelledError:
            if ask.future.done() and not ask.future.cancelled() and ask.future.exception() is None:
                self.take_back(caller, ask.future.result())
            self.room.leave(caller.organisation, ask)
            raise
        finally:
            self._leave(ask)
        self._metrics.waited.labels("granted" if offer.grants else "empty").observe(loop.time() - began)
        return offer

    def take_back(self, caller: Caller, offer: Offer[R]) -> None:
        """The one who asked is gone: what it was granted is given back.

        Unless it asked again under the same key: that request is told of the same leases, and they are its own.
        """
        if offer.grants:
            self._send(self.give_back(caller.organisation, [one.lease.id for one in offer.grants], offer.once))

    async def drain(self) -> None:
        """Wait until everything that was begun is done."""
        await self.desk.drain()
        while self._errands:
            await asyncio.wait(self._errands)

    async def _work(self, organisation: UUID, asks: list[Ask]) -> None:
        for ask in asks:
            ask.calls = self.room.calls(organisation, ask.site)
            if ask.future.cancelled():
                self._leave(ask)
        present = [ask for ask in asks if not ask.future.cancelled()]
        if not present:
            return
        now = asyncio.get_running_loop().time()
        last = {ask for ask in present if ask.wanted.wait_seconds == 0 or now >= ask.deadline or self.room.is_closed}
        served = await self._serve(organisation, present, last)
        self._metrics.batch_size.observe(len(present))
        self._tell(organisation, served)

    async def _serve(self, organisation: UUID, asks: Sequence[Ask], last: set[Ask]) -> _Served[R]:
        async def serve(conn: Conn) -> _Served[R]:
            served: _Served[R] = _Served()
            await self._serve_in(conn, organisation, asks, last, served)
            return served

        return await self._kept.steadily(organisation, serve)

    async def _serve_in(
        self, conn: Conn, organisation: UUID, asks: Sequence[Ask], last: set[Ask], served: _Served[R]
    ) -> None:
        await self._repeat(conn, organisation, asks, served)
        new = [ask for ask in asks if ask not in served.repeated]
        if not new:
            return
        claims = await self._claims(conn, organisation, new)
        served.deal = await self._stock.deal(conn, organisation, claims)
        given, refused = served.deal.given, served.deal.refused
        unmet = [ask for ask in new if ask not in given and ask not in refused]
        await self._book_keys(conn, organisation, given, [*unmet, *refused])
        ends_here = {*given, *refused, *(last if not served.deal.expired else ())}
        done = [ask.ticket for ask in new if ask.ticket and ask in ends_here]
        if done:
            await store.leave(conn, organisation, done)
        if served.deal.expired:
            served.again = unmet
            return
        for ask in unmet:
            if ask in last:
                served.empty[ask] = await self._stock.waiting(conn, organisation, ask.wanted)
        await self._keep_waiting(conn, organisation, [ask for ask in unmet if ask not in last], served)

    async def _claims(self, conn: Conn, organisation: UUID, asks: Sequence[Ask]) -> list[Claim]:
        """Everybody in turn: higher priority first, then who came first, those who wait elsewhere included."""
        tickets = [ask.ticket for ask in asks if ask.ticket]
        sites = sorted({ask.site for ask in asks})
        if ANYWHERE in sites:
            cur = await store.whole_queue(conn, organisation, self._kept.kind, tickets)
        else:
            cur = await store.queue(conn, organisation, [*sites, ANYWHERE], tickets, self._kept.kind)
        others = [
            Claim(site or None, wanted, labels, None, priority, since)
            for site, priority, wanted, labels, _, since in await cur.fetchall()
        ]
        own = [
            Claim(ask.wanted.site, ask.wanted.limit, ask.wanted.labels, ask, ask.priority, ask.since) for ask in asks
        ]
        return sorted([*own, *others], key=lambda claim: (-claim.priority, claim.since or _JUST_CAME))

    async def _repeat(self, conn: Conn, organisation: UUID, asks: Sequence[Ask], served: _Served[R]) -> None:
        """Answer those who asked before from what they were given then."""
        keyed = [ask.once for ask in asks if ask.once]
        if not keyed:
            return
        repeats = await idempotency.repeated(await idempotency.claim_many(conn, organisation, keyed), keyed)
        overdue: list[UUID] = []
        for ask in asks:
            made = repeats.get(ask.once) if ask.once else None
            if isinstance(made, str):
                try:
                    served.repeated[ask] = await self._made_before(conn, organisation, made, ask)
                except Overdue as found:
                    overdue += found.leases
            elif made is not None:
                served.repeated[ask] = made
        if overdue:
            raise Overdue(overdue)  # of all at once: however many there are, they are booked together

    async def _made_before(self, conn: Conn, organisation: UUID, made: str, ask: Ask) -> Offer[R] | Problem:
        leases = [UUID(hex=lease) for lease in made.split()]
        found = await self._stock.granted(conn, organisation, leases)
        for lease in leases:
            if lease not in found:
                return await self._kept.why_not(conn, organisation, lease)
        return Offer([found[lease] for lease in leases], None, ask.once)

    async def _book_keys(
        self, conn: Conn, organisation: UUID, given: Mapping[Ask, Sequence[Grant[R]]], others: Iterable[Ask]
    ) -> None:
        kept = {ask.once: " ".join(one.lease.id.hex for one in grants) for ask, grants in given.items() if ask.once}
        if kept:
            await idempotency.keep_many(conn, organisation, kept)
        if forgotten := [ask.once for ask in others if ask.once]:
            await idempotency.forget_many(conn, organisation, forgotten)

    async def _keep_waiting(self, conn: Conn, organisation: UUID, waiting: Sequence[Ask], served: _Served[R]) -> None:
        """A place in the queue for those who have just come, and the time when to look again for all."""
        newcomers = [ask for ask in waiting if ask.ticket is None]
        served.parked = [ask for ask in waiting if ask.ticket is not None]
        places = [
            Place(uuid7(), ask.site, ask.priority, ask.wanted.limit, ask.wanted.labels, None) for ask in newcomers
        ]
        if places:
            since = await store.enqueue(conn, organisation, self.room.process, places, self._kept.kind)
            served.queued = {ask: (place.id, since[place.id]) for ask, place in zip(newcomers, places, strict=True)}
        for site in {ask.site for ask in served.parked}:
            if (seconds := await self._stock.next_in_s(conn, organisation, site or None)) is not None:
                served.next_in_s[site] = seconds

    def _tell(self, organisation: UUID, served: _Served[R]) -> None:
        for ask, (ticket, since) in served.queued.items():
            ask.ticket, ask.since = ticket, since
            if ask.future.cancelled():
                self._leave(ask)
            else:
                self.desk.put(organisation, ask)  # whatever came free before its place was taken is seen now
        for ask in served.again:
            self.desk.put(organisation, ask)
        for ask, told in served.repeated.items():
            if ask.future.cancelled() and isinstance(told, Offer):
                self.take_back(ask.caller, told)
            _resolve(ask.future, told)
        for ask, problem in served.deal.refused.items():
            ask.ticket = None
            _resolve(ask.future, problem)
        for ask, waiting in served.empty.items():
            ask.ticket = None  # given up in the same transaction
            _resolve(ask.future, Offer((), waiting))
        for ask, grants in served.deal.given.items():
            ask.ticket = None
            self._metrics.leases_granted.labels(self._kept.kind).inc(len(grants))
            offer = Offer(grants, None, ask.once)
            if ask.future.cancelled():
                self.take_back(ask.caller, offer)
            else:
                _resolve(ask.future, offer)
        for ask in served.parked:
            if ask.future.cancelled():
                self._leave(ask)
            else:
                self.room.park(organisation, ask)
        for site, seconds in served.next_in_s.items():
            self.room.call_in(organisation, site, seconds)
        self._kept.ended(organisation, served.deal.expired)
        for done in served.deal.after:
            done()
        self.room.nudge(organisation, served.deal.left_at)

    def _leave(self, ask: Ask) -> None:
        """Give up its place in the queue, if it still has one."""
        if ask.ticket is not None:
            self._send(self._left(ask.caller.organisation, ask.ticket, ask.site))
            ask.ticket = None

    async def _left(self, organisation: UUID, ticket: UUID, site: str) -> None:
        async with self._db.transaction(organisation) as conn:
            await store.leave(conn, organisation, [ticket])
        self.room.freed(organisation, [site])  # what was kept for it is anybody's now

    async def give_back(self, organisation: UUID, leases: Sequence[UUID], once: Once | None) -> None:
        """As if these had not been granted; together with their key, unless a repeat was told of them meanwhile."""

        async def take_back(conn: Conn) -> list[Ended]:
            if once is not None and await idempotency.hang_up_many(conn, organisation, {once: leases[0].hex}):
                return []
            ended = await self._kept.take_back(conn, organisation, leases)
            # What had run out before is no such thing: a repeat is told that the lease is over.
            if once is not None and ended:
                await idempotency.forget_many(conn, organisation, [once])
            return ended

        self._kept.ended(organisation, await self._kept.steadily(organisation, take_back))

    def _send(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(errand, name="errand")
        self._errands.add(task)
        task.add_done_callback(self._ran)

    def _ran(self, errand: asyncio.Task[None]) -> None:
        self._errands.discard(errand)
        if not errand.cancelled():
            errand.exception()  # where the database is gone: the place dies with the process, the lease with its time


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if future.done():
        return
    if isinstance(result, Problem):
        future.set_exception(result)
    else:
        future.set_result(result)
