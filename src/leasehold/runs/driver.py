"""Drives a run: one driver for each, on a lease with a fence, on whichever process is alive.

Each step is a transaction that first proves it is still the driver: items with their reservations, their jobs and the
place in the enumeration are written together, and so are outcomes with what they cost. What dies between two steps has
lost nothing and repeats nothing: jobs go on by themselves, and the next driver finds them.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from uuid import UUID

from leasehold.collectors import Collector, CollectorError, ItemRefused, ProviderDown, RateLimited, Wish
from leasehold.db import Conn, Database
from leasehold.ids import show, uuid7
from leasehold.jobs import Jobs, JobUnknown, WrongState, breakers, take_in
from leasehold.leases import nobody
from leasehold.problems import InvalidRequest
from leasehold.runs import again, ledger, machine, skipping, store
from leasehold.runs.checkpoint import Reader, checkpoint, progress
from leasehold.runs.enumeration import Page, chosen, line_of, moved_on, total_items, unit_micros
from leasehold.runs.ledger import Cost
from leasehold.runs.machine import Pause, Status
from leasehold.runs.models import ITEM, NewItem, Place, Run
from leasehold.runs.requests import request_for
from leasehold.runs.service import pause, resume, serve_next

# A driver that says nothing for so long is taken for dead.
LEASE_S = 10.0
# So many items begin together, and so many are settled by one checkpoint, at the most.
CHECKPOINT_ITEMS = 100
_REST_S = 0.1
_IDLE_S = 1.0
# Those of a provider that is back go on one after the other.
STAGGER_S = 2.0
_PROBE_S = 5.0


class NotTheDriver(Exception):
    """Somebody else drives this run, or it is over."""


class Driver:
    """Drives one run."""

    def __init__(
        self,
        db: Database,
        jobs: Jobs,
        collector: Collector,
        read: Reader,
        organisation: UUID,
        run: UUID,
        process: UUID,
        fence: int,
    ) -> None:
        self._db = db
        self._jobs = jobs
        self._collector = collector
        self._read = read
        self._organisation = organisation
        self._run = run
        self._as_driver = {"driver": process, "fence": fence, "lease_s": LEASE_S}
        self._page: Page | None = None

    async def drive(self) -> None:
        try:
            while await self.step():
                pass
        except NotTheDriver:
            pass
        finally:
            with suppress(Exception):
                await asyncio.shield(self.let_go())

    async def step(self) -> bool:
        """Go on a little; False when there is nothing more to do for anybody."""
        now = await self._settle_what_is_over()
        if now.dropped_categories and now.in_flight:
            await self._take_back(now)
        match now.status:
            case Status.RUNNING:
                is_busy = await self._go_on(now)
            case Status.PAUSED:
                is_busy = await self._stay_paused(now)
            case Status.PENDING:
                is_busy = await self._wait_for_a_slot()
            case _:
                return await self._wind_down(now)
        await asyncio.sleep(_REST_S if is_busy else _IDLE_S)
        return True

    async def _held(self, conn: Conn) -> Run:
        """The run, if it is still ours to drive. Nobody else changes it until this is committed."""
        given = {"organisation": self._organisation, "run": self._run, **self._as_driver}
        if await (await conn.execute(store.SQL["hold_as_driver"], given)).fetchone() is None:
            raise NotTheDriver
        return await store.get(conn, self._organisation, self._run)

    async def let_go(self) -> None:
        """Another may drive it from now on."""
        async with self._db.transaction(self._organisation) as conn:
            given = {name: self._as_driver[name] for name in ("driver", "fence")}
            await store.change(conn, store.SQL["let_go"], self._organisation, self._run, **given)

    async def _settle_what_is_over(self) -> Run:
        """A checkpoint: outcomes, what they cost and what they brought, in one transaction."""
        async with self._db.transaction(self._organisation) as conn:
            now = await self._held(conn)
            over = await store.finished(conn, self._organisation, self._run, CHECKPOINT_ITEMS)
            if not over:
                return now
            found = await self._read(conn, self._organisation, now, over)
            await checkpoint(conn, self._organisation, now, over, found)
            return await store.get(conn, self._organisation, self._run)

    async def _go_on(self, now: Run) -> bool:
        """Begin more items, as many as the window, the budget and the provider bear; whether there may be more."""
        if not await self._is_provider_up(now):
            return True
        if now.to_begin_again:
            return await self._try_again()
        if now.is_enumerated:
            return await self._finish_if_done(now)
        if now.is_at_dropped:
            return await self._pass_by()
        if machine.room(now.max_in_flight, now.in_flight, CHECKPOINT_ITEMS) == 0:
            return True
        page = await self._next_page(now)
        return page is not None and await self._begin(page)

    async def _is_provider_up(self, now: Run) -> bool:
        async with self._db.transaction(self._organisation) as conn:
            opened = (await breakers(conn, self._organisation)).get(now.platform)
            if opened is None:
                return True
            held = await self._held(conn)
            if held.status is Status.RUNNING:
                detail = f"{self._collector.provider} is down: {opened.reason}. One item tries it from time to time."
                await pause(conn, self._organisation, held, Pause.PROVIDER_DOWN, detail)
        return False

    async def _finish_if_done(self, now: Run) -> bool:
        if now.in_flight:
            return True
        async with self._db.transaction(self._organisation) as conn:
            await store.guard_slots(conn, self._organisation)
            held = await self._held(conn)
            is_done = held.is_enumerated and not held.in_flight and not held.to_begin_again
            if held.status is Status.RUNNING and is_done:
                status = Status.FAILED if held.is_in_vain else Status.COMPLETED
                await store.change(
                    conn, store.SQL["finish"], self._organisation, self._run, status=str(status), sub_status=None
                )
                after = await store.get(conn, self._organisation, self._run)
                await store.tell(conn, self._organisation, self._run, [(str(status), progress(after))])
                await serve_next(conn, self._organisation)
        return False

    async def _next_page(self, now: Run) -> Page | None:
        """The page that enumeration has come to, fetched when it is not at hand; None when it could not be had."""
        place = now.enumerated
        if self._page is not None and (self._page.place.category, self._page.place.cursor) == (
            place.category,
            place.cursor,
        ):
            return Page(place, self._page.listing)
        category = now.categories[place.category]
        price = await self._listing_price()
        if price and not await self._reserve_listing(price):
            return None
        spent = price  # unless it is heard otherwise: who asked and was cut off may have been charged
        try:
            listing = await self._collector.list(category, place.cursor)
            spent = listing.cost_micros
        except RateLimited as error:
            spent = error.cost_micros
            await asyncio.sleep(min(error.retry_after_seconds, LEASE_S / 2))
            return None
        except CollectorError as error:
            spent = error.cost_micros
            await self._pause_for(error)
            return None
        finally:
            if price:
                await self._settle_listing(price, spent)
        self._page = Page(place, listing)
        return self._page

    async def _listing_price(self) -> int:
        async with self._db.transaction(self._organisation) as conn:
            return self._collector.listing_cost_micros(await store.today(conn))

    async def _reserve_listing(self, price: int) -> bool:
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is not Status.RUNNING:
                return False
            if await ledger.reserve(conn, self._organisation, self._run, [Cost(None, price)], "listing"):
                await self._warn_if_due(conn)
                return True
            await self._pause_for_budget(conn, held)
        return False

    async def _settle_listing(self, price: int, spent: int) -> None:
        async with self._db.transaction(self._organisation) as conn:
            await self._held(conn)
            await ledger.settle(conn, self._organisation, self._run, [Cost(None, price, spent)], "listing")

    async def _pause_for(self, error: CollectorError) -> None:
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is Status.RUNNING:
                is_down = isinstance(error, ProviderDown)
                reason = Pause.PROVIDER_DOWN if is_down else Pause.FAILURES
                detail = f"{self._collector.provider}{' is down' if is_down else ''}: {error}"
                await pause(conn, self._organisation, held, reason, detail)

    async def _begin(self, page: Page) -> bool:
        """Turn the next of a page into items: reserved, dispatched and passed by, all in one transaction."""
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is not Status.RUNNING or held.enumerated != page.place or held.is_at_dropped:
                return True
            category = held.categories[page.place.category]
            most = int(line_of(held, category)["items"])
            wishes = page.listing.wishes[page.place.offset :]
            begun = page.place.known.get(category, 0)
            room = machine.room(held.max_in_flight, held.in_flight, CHECKPOINT_ITEMS)
            if room == 0:  # fewer at once, since the page was asked for
                return True
            within = wishes[: max(0, min(CHECKPOINT_ITEMS, most - begun))]
            unit = self._price(held, wishes, await store.today(conn))
            bearable = machine.fits(held.free_micros, unit, min(len(within), room))
            known = await skipping.lately(conn, self._organisation, held, category, within)
            wanted, skipped = chosen(within, known, bearable)
            if within and not wanted and not skipped:
                await self._pause_for_budget(conn, held)
                return True
            taken = await self._begin_items(conn, held, wanted, unit) if wanted else []
            new = len(taken) + await skipping.skip(conn, self._organisation, held, skipped)
            after = moved_on(page, category, len(wanted) + len(skipped), new, is_last=most - begun <= new)
            await store.note_place(conn, self._organisation, self._run, after, total_items(held, after))
            if after.category != page.place.category:
                await skipping.sum_up(conn, self._organisation, held, category)
            await self._warn_if_due(conn)
        if taken:
            self._jobs.call(self._organisation, [held.platform])
        return True

    async def _pass_by(self) -> bool:
        """On to the next category: nothing more of this one is wanted."""
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is Status.RUNNING and held.is_at_dropped:
                after = Place(held.enumerated.category + 1, known=held.enumerated.known)
                await store.note_place(conn, self._organisation, self._run, after, total_items(held, after))
        return True

    async def _take_back(self, now: Run) -> None:
        """What was dropped and no worker has begun is not begun."""
        async with self._db.transaction(self._organisation) as conn:
            await self._held(conn)
            waiting = await store.put_off_jobs(conn, self._organisation, self._run, now.dropped_categories)
        await self._cancel(waiting)

    async def _cancel(self, jobs: Sequence[str]) -> None:
        for job in jobs:
            with suppress(WrongState, JobUnknown):
                await self._jobs.cancel(nobody(self._organisation), job)

    async def _try_again(self) -> bool:
        try:
            return await self._begin_again()
        except InvalidRequest:  # of something that failed long ago
            why = "what failed cannot be asked for any more, as its platform's file has changed."
            await self._pause_for(ItemRefused("invalid_request", why))
            return False

    async def _begin_again(self) -> bool:
        """Try once more what failed, as many as the window and the budget bear."""
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            room = machine.room(held.max_in_flight, held.in_flight, CHECKPOINT_ITEMS)
            if held.status is not Status.RUNNING or room == 0:
                return True
            if not await again.begin(conn, self._organisation, held, self._jobs.catalogue, room):
                await self._pause_for_budget(conn, held)
            await self._warn_if_due(conn)
        self._jobs.call(self._organisation, [held.platform])
        return True

    def _price(self, run: Run, wishes: Sequence[Wish], today: date) -> int:
        platform, first = self._jobs.catalogue.get(run.platform), wishes[0] if wishes else None
        return unit_micros(run, platform, first.item_type, first.category, today) if first else 0

    async def _begin_items(self, conn: Conn, held: Run, wishes: Sequence[Wish], unit: int) -> list[NewItem]:
        new = [_item(wish, unit) for wish in wishes]
        fresh = await store.begin_items(conn, self._organisation, self._run, new)
        taken = [one for one in new if one.id in fresh]  # a provider may list a thing twice; it is collected once
        if not taken:
            return []
        await ledger.reserve(conn, self._organisation, self._run, [Cost(one.id, unit) for one in taken], "item")
        requests = [
            request_for(held, one.job, one.item_type, wish.payload)
            for one, wish in zip(new, wishes, strict=True)
            if one.id in fresh
        ]
        await take_in(conn, nobody(self._organisation), requests, self._jobs.catalogue)
        return taken

    async def _warn_if_due(self, conn: Conn) -> None:
        now = await store.get(conn, self._organisation, self._run)
        used, cap = now.spent_micros + now.reserved_micros, now.budget_cap_micros
        if now.warned_cap_micros == cap or not machine.is_soft_limit_passed(used, cap, now.soft_warning_percent):
            return
        warning = {"type": "budget_soft", "percent": now.soft_warning_percent, "budget_cap_micros": cap}
        if await store.change(conn, store.SQL["warn"], self._organisation, self._run, warning=store.written(warning)):
            told = warning | {"spent_micros": now.spent_micros, "reserved_micros": now.reserved_micros}
            await store.tell(conn, self._organisation, self._run, [("budget_warning", told)])

    async def _pause_for_budget(self, conn: Conn, held: Run) -> None:
        """Nothing more can be paid for. What is in hand may bring something back, so it is waited for first."""
        if held.in_flight:
            return
        detail = "The cap is reached: raise it and resume, or cancel."
        await pause(conn, self._organisation, held, Pause.BUDGET, detail)

    async def _stay_paused(self, now: Run) -> bool:
        if now.sub_status == "pausing" and not await self._has_work_in_hand():
            async with self._db.transaction(self._organisation) as conn:
                await self._held(conn)
                await store.change(conn, store.SQL["paused_indeed"], self._organisation, self._run)
        if now.pause_reason is Pause.PROVIDER_DOWN:
            return await self._resume_if_back()
        return now.sub_status == "pausing"

    async def _has_work_in_hand(self) -> bool:
        """Whether workers still have items that were begun before the pause."""
        async with self._db.transaction(self._organisation) as conn:
            now = await store.get(conn, self._organisation, self._run)
            waiting = await store.put_off_jobs(conn, self._organisation, self._run)
        return now.in_flight > len(waiting)

    async def _resume_if_back(self) -> bool:
        async with self._db.transaction(self._organisation) as conn:
            await store.guard_slots(conn, self._organisation)
            held = await self._held(conn)
            if held.pause_reason is not Pause.PROVIDER_DOWN:
                return False
            if (await breakers(conn, self._organisation)).get(held.platform) is not None:
                return False
            given = {"organisation": self._organisation, "run": self._run}
            row = await (await conn.execute(store.SQL["is_time_to_resume"], given)).fetchone()
            is_time, is_unplanned = row if row else (False, False)
            if is_time:
                await resume(conn, self._organisation, held, {"reason": "provider_back", "by": None})
                return True
            if is_unplanned:
                others = {"organisation": self._organisation, "platform": held.platform}
                before = await (await conn.execute(store.SQL["resuming"], others)).fetchone()
                wait_s = STAGGER_S * (1 + (before[0] if before else 0)) if held.in_flight else _PROBE_S
                await store.change(conn, store.SQL["resume_later"], self._organisation, self._run, wait_s=wait_s)
        return False

    async def _wait_for_a_slot(self) -> bool:
        async with self._db.transaction(self._organisation) as conn:
            await store.guard_slots(conn, self._organisation)
            await self._held(conn)
            await serve_next(conn, self._organisation)
        return False

    async def _wind_down(self, now: Run) -> bool:
        """A cancelled run: what no worker has is taken back, what workers have is waited for."""
        async with self._db.transaction(self._organisation) as conn:
            await self._held(conn)
            waiting = await store.put_off_jobs(conn, self._organisation, self._run)
        await self._cancel(waiting)
        if now.in_flight:
            await asyncio.sleep(_REST_S)
            return True
        async with self._db.transaction(self._organisation) as conn:
            await self._held(conn)
            await store.change(conn, store.SQL["wound_down"], self._organisation, self._run)
        return False


def _item(wish: Wish, unit: int) -> NewItem:
    id_ = uuid7()
    return NewItem(id_, wish.category, wish.item_type, wish.external_id, show(ITEM, id_), unit)
