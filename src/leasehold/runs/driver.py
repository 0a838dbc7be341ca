"""Drives a run: one driver for each, on a lease with a fence, on whichever process is alive.

Each step is a transaction that first proves it is still the driver: items with their reservations, their jobs and the
place in the enumeration are written together, and so are outcomes with what they cost. What dies between two steps has
lost nothing and repeats nothing: jobs go on by themselves, and the next driver finds them.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from leasehold.collectors import Collector, CollectorError, ItemRefused, Listing, ProviderDown, RateLimited
from leasehold.db import Conn, Database
from leasehold.jobs import Jobs, JobUnknown, WrongState, breakers
from leasehold.leases import nobody
from leasehold.problems import InvalidRequest
from leasehold.runs import again, findings, grip, ledger, machine, skipping, store
from leasehold.runs.beginning import begin
from leasehold.runs.checkpoint import checkpoint, progress
from leasehold.runs.enumeration import Page, chosen, line_of, moved_on, total_items
from leasehold.runs.findings import Found, Reader
from leasehold.runs.grip import Grip
from leasehold.runs.ledger import Cost
from leasehold.runs.machine import Pause, Status
from leasehold.runs.models import Finished, Place, Run
from leasehold.runs.outages import pause_for_outage, resume_if_back
from leasehold.runs.service import pause, pause_beyond_cap, serve_next
from leasehold.runs.stumbling import AWAY, walk

# So many items begin together, and so many are settled by one checkpoint, at the most.
CHECKPOINT_ITEMS = 100
_REST_S = 0.1
_IDLE_S = 1.0


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
        self.grip = Grip(db, organisation, run, process, fence)
        self._page: Page | None = None

    async def drive(self) -> None:
        await walk(self.grip, self.step)

    async def step(self) -> bool:
        """Go on a little; False when there is nothing more to do for anybody."""
        now = await self._settle_what_is_over()
        if now.dropped_categories and now.in_flight:
            await self._take_back(now)
        match now.status:
            case Status.RUNNING:
                is_busy = await self._go_on(now)
            case Status.PAUSED if now.is_resting:
                return False
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
        return await self.grip.held(conn)

    async def _settle_what_is_over(self) -> Run:
        """A checkpoint: outcomes, what they cost and what they brought, in one transaction."""
        async with self._db.transaction(self._organisation) as conn:
            now = await self._held(conn)
            over = await store.finished(conn, self._organisation, self._run, CHECKPOINT_ITEMS)
        if not over:
            return now
        found = await findings.read(self._read, self._organisation, now, over)
        async with self._db.transaction(self._organisation) as conn:
            now = await self._held(conn)
            still = await store.finished(conn, self._organisation, self._run, CHECKPOINT_ITEMS)
            over = [one for one in over if one in still]  # a job may have been retried meanwhile
            await self._settle(conn, now, over, found)
            return await store.get(conn, self._organisation, self._run)

    async def _settle(self, conn: Conn, now: Run, over: Sequence[Finished], found: Found) -> None:
        if not over:
            return
        await findings.note_sellers(conn, self._organisation, now, over, found)
        datas = {job: findings.data_of(documents) for job, documents in found.items()}
        await checkpoint(conn, self._organisation, now, over, datas)

    async def _go_on(self, now: Run) -> bool:
        """Begin more items, as many as the window, the budget and the provider bear; whether there may be more."""
        if self._jobs.catalogue.get(now.platform) is None:
            await self._pause_without_platform(now.platform)
            return True
        at_once = await self._bears(now)
        if at_once == 0:
            return True
        if now.to_begin_again:
            return await self._try_again(at_once)
        if now.is_enumerated:
            return await self._finish_if_done(now)
        if now.is_at_dropped:
            return await self._pass_by()
        if machine.room(now.max_in_flight, now.in_flight, at_once) == 0:
            return True
        page = await self._next_page(now)
        return page is not None and await self._begin(page, at_once)

    async def _bears(self, now: Run) -> int:
        """How many items may begin together. While the provider is down one tries it, and the run rests."""
        async with self._db.transaction(self._organisation) as conn:
            opened = (await breakers(conn, self._organisation)).get(now.platform)
            if opened is None:
                return CHECKPOINT_ITEMS
            held = await self._held(conn)
            if not held.in_flight:
                return 1
            await pause_for_outage(conn, self._organisation, held, self._collector.provider, opened.reason)
        return 0

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
            listing = await self._while_held(self._collector.list(category, place.cursor))
            if listing is None:
                return None
            spent = listing.cost_micros
            self._page = Page(place, listing)
        except RateLimited as error:
            spent = error.cost_micros
            await asyncio.sleep(min(error.retry_after_seconds, grip.LEASE_S / 2))
            return None
        except CollectorError as error:
            spent = error.cost_micros
            await self._pause_for(error)
            return None
        finally:
            if price:
                await self._settle_listing(price, spent)
        return self._page

    async def _while_held(self, asking: Coroutine[Any, Any, Listing]) -> Listing | None:
        """A page, which may take longer than a driver may be silent; None when nobody wants it any more."""
        task = asyncio.ensure_future(asking)
        try:
            while not (await asyncio.wait({task}, timeout=grip.BEAT_S))[0]:
                with suppress(*AWAY):
                    if (await self._settle_what_is_over()).status.is_over:
                        return None
            return await task
        finally:
            task.cancel()

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
            await pause_beyond_cap(conn, self._organisation, await store.get(conn, self._organisation, self._run))

    async def _pause_for(self, error: CollectorError) -> None:
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is Status.RUNNING:
                is_down = isinstance(error, ProviderDown)
                reason = Pause.PROVIDER_DOWN if is_down else Pause.FAILURES
                detail = f"{self._collector.provider}{' is down' if is_down else ''}: {error}"
                await pause(conn, self._organisation, held, reason, detail)

    async def _pause_without_platform(self, slug: str) -> None:
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is Status.RUNNING:
                detail = f"The platform {slug} is not there: put {slug}.yaml into the folder of platforms, then resume."
                await pause(conn, self._organisation, held, Pause.FAILURES, detail, code="platform_missing")

    async def _begin(self, page: Page, at_once: int) -> bool:
        """Turn the next of a page into items: reserved, dispatched and passed by, all in one transaction."""
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            if held.status is not Status.RUNNING or held.enumerated != page.place or held.is_at_dropped:
                return True
            category = held.categories[page.place.category]
            most = int(line_of(held, category)["items"])
            wishes = page.listing.wishes[page.place.offset :]
            begun = page.place.known.get(category, 0)
            room = machine.room(held.max_in_flight, held.in_flight, at_once)
            if room == 0:  # fewer at once, since the page was asked for
                return True
            within = wishes[: max(0, min(CHECKPOINT_ITEMS, most - begun))]
            unit = self._collector.item_cost_micros(await store.today(conn))
            bearable = machine.fits(held.free_micros, unit, min(len(within), room))
            known = await skipping.lately(conn, self._organisation, held, category, within)
            wanted, skipped = chosen(within, known, bearable)
            if within and not wanted and not skipped:
                await self._pause_for_budget(conn, held)
                return True
            catalogue = self._jobs.catalogue
            taken = await begin(conn, self._organisation, held, wanted, unit, catalogue) if wanted else []
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

    async def _try_again(self, at_once: int) -> bool:
        try:
            return await self._begin_again(at_once)
        except InvalidRequest:  # of something that failed long ago
            why = "what failed cannot be asked for any more, as its platform's file has changed."
            await self._pause_for(ItemRefused("invalid_request", why))
            return False

    async def _begin_again(self, at_once: int) -> bool:
        """Try once more what failed, as many as the window and the budget bear."""
        async with self._db.transaction(self._organisation) as conn:
            held = await self._held(conn)
            room = machine.room(held.max_in_flight, held.in_flight, at_once)
            if held.status is not Status.RUNNING or room == 0:
                return True
            unit = self._collector.item_cost_micros(await store.today(conn))
            if not await again.begin(conn, self._organisation, held, self._jobs.catalogue, unit, room):
                await self._pause_for_budget(conn, held)
            await self._warn_if_due(conn)
        self._jobs.call(self._organisation, [held.platform])
        return True

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
            return await resume_if_back(conn, self._organisation, await self._held(conn))

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
