"""Drives a sweep: one driver for each source, on a lease with a fence, on whichever process is alive.

Each page is one transaction that first proves it is still the driver: the records it brings are handed over, what was
seen is noted and the place in the list moves on, all of it or nothing. Whoever dies between two of them has lost
nothing, and what the next one reads again is not handed over again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from leasehold import logs
from leasehold.db import Conn, Database
from leasehold.sources import machine, store
from leasehold.sources.bucket import Bucket
from leasehold.sources.declared import Source
from leasehold.sources.machine import Mode, Next, Phase, Place, Read, Status, Waiting
from leasehold.sources.models import (
    Denied,
    Fetcher,
    FetchError,
    Gone,
    Listing,
    ListWish,
    Outlet,
    RateLimited,
    Rejected,
    State,
    Taken,
    Thing,
    Unavailable,
)
from leasehold.sources.page import take
from leasehold.sources.store import Driving, More

log = logs.get(__name__)
T = TypeVar("T")

# A driver that says nothing for so long is taken for dead.
LEASE_S = 10.0
_SLICE_S = LEASE_S / 4
_LONGEST_BACKOFF_S = 60.0
_QUEUE_REST_S = 0.5
# So many refusals in a row for asking too often, and something else is wrong.
_MOST_REFUSALS = 20
# A change may be written a while after the time it bears.
_OVERLAP = timedelta(hours=1)


class NotTheDriver(Exception):
    """Somebody else drives this source."""


class Over(Exception):
    """The sweep was stopped, or cannot go on."""


class Driver:
    """Drives the sweep of one source."""

    def __init__(
        self, db: Database, source: Source, fetcher: Fetcher, outlet: Outlet, high_water_bytes: int, driving: Driving
    ) -> None:
        self._db = db
        self._source = source
        self._fetcher = fetcher
        self._outlet = outlet
        self._high_water_bytes = high_water_bytes
        self._driving = driving
        self._which = driving.which
        self._bucket = Bucket(source.rate_limit)
        self._is_resumed = True

    async def drive(self) -> None:
        try:
            await self._prepare()
            while await self.step():
                pass
        except (NotTheDriver, Over):
            pass
        except Exception as error:
            log.exception("source.driver_died", source=self._source.name)
            await self._fail(f"Something unexpected happened here ({type(error).__name__}); the log says more.")
        finally:
            with suppress(Exception):
                await asyncio.shield(self.let_go())

    async def _prepare(self) -> None:
        """Learn what the source says of itself; what it does not want to say is no reason to stop."""
        with suppress(Rejected):
            await self._fetched(self._fetcher.prepare, is_patient=False)

    async def step(self) -> bool:
        """Go on a little; False when the sweep is done."""
        place = await self._place()
        if place.phase is Phase.ASK:
            return await self._ask(place)
        if self._is_resumed:
            self._is_resumed, place = False, machine.resumed(place)
        return await self._read(place)

    async def let_go(self) -> None:
        """Another may drive it from now on."""
        await self._fetcher.aclose()
        async with self._db.transaction(self._which.organisation) as conn:
            await store.let_go(conn, self._driving)

    async def _held(self, conn: Conn, waiting: Waiting | None = None, errors: int = 0) -> State:
        rate = self._bucket.per_minute
        state = await store.hold(conn, self._driving, LEASE_S, rate, waiting, errors)
        if state is None:
            raise NotTheDriver
        return state

    async def _look(self, waiting: Waiting | None = None, errors: int = 0) -> tuple[Place, int]:
        """Where the sweep is and how much waits to be written, while it is ours and nobody has stopped it."""
        async with self._db.transaction(self._which.organisation) as conn:
            state = await self._held(conn, waiting, errors)
            if state.status is not Status.SWEEPING or state.place is None:
                raise Over
            return state.place, await self._outlet.queued_bytes(conn, self._which.organisation)

    async def _place(self) -> Place:
        """Where to go on, once the writer can take more."""
        place, queued = await self._look()
        while queued > self._high_water_bytes:
            await asyncio.sleep(_QUEUE_REST_S)
            self._bucket.drain()
            place, queued = await self._look(Waiting.QUEUE)
        return place

    async def _read(self, place: Place) -> bool:
        newest_first = place.mode is Mode.INCREMENTAL
        wish = ListWish(place.page, place.per_page, newest_first)
        try:
            is_patient = place.batch <= machine.SAFE_BATCH
            listing = await self._fetched(lambda: self._fetcher.page(wish), is_patient=is_patient)
        except Rejected:
            await self._with_smaller_pages(place)
            return True
        async with self._db.transaction(self._which.organisation) as conn:
            await self._held(conn)
            return await self._settle(conn, place, listing)

    async def _with_smaller_pages(self, place: Place) -> None:
        async with self._db.transaction(self._which.organisation) as conn:
            await self._held(conn, errors=1)
            await self._move_on(conn, machine.with_smaller_pages(place, 0), None, More())

    async def _settle(self, conn: Conn, place: Place, listing: Listing) -> bool:
        """All that a page changes, in one transaction; whether there is more to do."""
        if place.first_count is None:
            place = replace(place, began=listing.date.isoformat() if listing.date else None)
        ids = [thing.id for thing in listing.things if thing.id is not None]
        known = await store.known(conn, self._which, ids)
        taken = take(self._fetcher, listing.things, known, place)
        read = _read(place, listing, taken)
        if machine.gives_less(place, read):
            await self._move_on(conn, machine.with_smaller_pages(place, read.rows), read.count, More())
            return True
        gone = await self._hand_over(conn, place, taken)
        after, is_last = machine.after_page(replace(place, gone=place.gone + gone), read)
        more = More(taken.fresh, 1, len(taken.items), gone, len(taken.letters))
        if not is_last:
            await self._move_on(conn, after, read.count, more)
            return True
        live, unseen = await store.count_sightings(conn, self._which, after)
        after, following = machine.after_pass(after, live, unseen)
        await self._move_on(conn, after, read.count, more)
        return following is not Next.DONE or await self._finish(conn, after, live)

    async def _hand_over(self, conn: Conn, place: Place, taken: Taken) -> int:
        """Records to the writer, sightings and letters to their tables; returns how many turned out to be gone."""
        organisation, name = self._which.organisation, self._which.name
        await store.bury(conn, self._which, taken.letters)
        await store.sight(conn, self._which, place, taken.sightings)
        gone = await store.lose(conn, self._which, [Gone(one, into) for one, into in taken.merged.items()])
        await self._retire(conn, gone)
        if taken.items:
            images_wanted = self._source.faces == "on"
            priority = self._source.priority
            await self._outlet.offer(
                conn, organisation, name, taken.items, priority=priority, images_wanted=images_wanted
            )
        return len(gone)

    async def _retire(self, conn: Conn, gone: list[Gone]) -> None:
        if gone and self._outlet.retire:
            await self._outlet.retire(conn, self._which.organisation, self._which.name, gone)

    async def _ask(self, place: Place) -> bool:
        """Ask for one that the list did not show: it is gone, or part of another, or was only overlooked."""
        async with self._db.transaction(self._which.organisation) as conn:
            await self._held(conn)
            left = await store.unseen(conn, self._which, place, 1)
            if not left:
                return await self._asked_all(conn, place)
        thing = await self._fetched(lambda: self._fetcher.find(left[0]))
        async with self._db.transaction(self._which.organisation) as conn:
            await self._held(conn)
            await self._settle_one(conn, place, left[0], thing)
        return True

    async def _settle_one(self, conn: Conn, place: Place, source_id: str, thing: Thing | None) -> None:
        if thing is None or thing.id != source_id or thing.is_deleted or thing.merged_into:
            gone = await store.lose(conn, self._which, [Gone(source_id, thing.merged_into if thing else None)])
            await self._retire(conn, gone)
            await self._move_on(conn, replace(place, gone=place.gone + 1), None, More(gone=len(gone)))
            return
        known = await store.known(conn, self._which, [source_id])
        taken = take(self._fetcher, [thing], known, place)
        gone_now = await self._hand_over(conn, place, taken)
        more = More(taken.fresh, 0, len(taken.items), gone_now, len(taken.letters))
        await self._move_on(conn, replace(place, fresh=place.fresh + taken.fresh), None, more)

    async def _asked_all(self, conn: Conn, place: Place) -> bool:
        live, _ = await store.count_sightings(conn, self._which, place)
        after, following = machine.after_asking(place, live)
        await self._move_on(conn, after, None, More())
        return following is not Next.DONE or await self._finish(conn, after, live)

    async def _finish(self, conn: Conn, place: Place, live: int) -> bool:
        note = None
        if place.mode is Mode.FULL and live != place.last_count:
            note = f"It says that it has {place.last_count}, and shows {live}, however often it is asked."
        await store.finish(conn, self._driving, place, note)
        log.info("source.swept", source=self._source.name, mode=str(place.mode), passes=place.number, live=live)
        return False

    async def _move_on(self, conn: Conn, place: Place, expected: int | None, more: More) -> None:
        if not await store.move_on(conn, self._driving, place, expected, more):
            raise NotTheDriver

    async def _fail(self, why: str) -> None:
        log.warning("source.failed", source=self._source.name, why=why)
        with suppress(Exception):
            async with self._db.transaction(self._which.organisation) as conn:
                await store.fail(conn, self._driving, why)

    async def _fetched(self, ask: Callable[[], Awaitable[T]], *, is_patient: bool = True) -> T:
        """The answer, however often it takes within reason. Raises Over when the sweep cannot go on.

        A source in trouble may also say no to what it has answered before: who is patient asks it again. Who has
        another way to ask is told at once, by Rejected.
        """
        failures = refusals = 0
        while True:
            await self._rest(self._bucket.wait_s(), Waiting.RATE)
            self._bucket.take()
            try:
                answer = await self._while_held(ask())
            except RateLimited as error:
                refusals += 1
                self._bucket.refused(error.retry_after_s)
                log.info("source.refused", source=self._source.name, retry_after_s=error.retry_after_s)
                await self._give_up_after(refusals, _MOST_REFUSALS, error)
            except (Unavailable, Rejected) as error:
                if isinstance(error, Rejected) and not is_patient:
                    raise
                failures += 1
                await self._give_up_after(failures, self._source.retry_attempts, error)
                await self._rest(self._backoff_s(failures), Waiting.RETRY)
            except Denied as error:
                await self._fail(f"{error} Look after its key.")
                raise Over from None
            else:
                self._bucket.answered()
                return answer

    async def _give_up_after(self, times: int, most: int, error: FetchError) -> None:
        waiting = Waiting.RATE if isinstance(error, RateLimited) else Waiting.RETRY
        await self._look(waiting, errors=1)
        if times > most:
            await self._fail(str(error))
            raise Over from None

    def _backoff_s(self, failures: int) -> float:
        longest = min(_LONGEST_BACKOFF_S, self._source.retry_delay_seconds * 2.0 ** (failures - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (jitter, not a secret)

    async def _rest(self, seconds: float, waiting: Waiting) -> None:
        """Wait, and keep the source meanwhile; whoever stops it is heard."""
        while seconds > _SLICE_S:
            await self._look(waiting)
            await asyncio.sleep(_SLICE_S)
            seconds -= _SLICE_S
        if seconds > 0:
            await asyncio.sleep(seconds)

    async def _while_held(self, asking: Awaitable[T]) -> T:
        """An answer that may take longer than a driver may be silent."""
        task = asyncio.ensure_future(asking)
        try:
            while not (await asyncio.wait({task}, timeout=_SLICE_S))[0]:
                await self._look()
            return await task
        finally:
            task.cancel()


def _read(place: Place, listing: Listing, taken: Taken) -> Read:
    updated = [thing.updated for thing in listing.things if thing.updated]
    until = datetime.fromisoformat(place.watermark) - _OVERLAP if place.watermark else None
    return Read(
        rows=len(listing.things),
        count=listing.count,
        date=listing.date.isoformat() if listing.date else None,
        new=taken.new,
        fresh=taken.fresh,
        newest=max(updated).isoformat() if updated else None,
        reaches_watermark=bool(updated and until and min(updated) < until),
    )
