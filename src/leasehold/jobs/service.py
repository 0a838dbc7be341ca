"""Jobs: taken in, handed to workers, ended by what those bring, by time, or by an operator."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import audit, leases
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.jobs import machine, store
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.messages import CrawlRequest
from leasehold.jobs.models import PREFIX, Books, Burial, DeadLetter, Depth, Job, JobFilter, Noted, Order, Part, Pause
from leasehold.jobs.problems import JobUnknown, PlatformUnknown, WrongState
from leasehold.jobs.results import Results, Told
from leasehold.jobs.stock import TaskRows, TaskStock, wish
from leasehold.leases import Counter, Ended, Ending, How, KeptLeases, Kind, Offer, Timekeeper, Wanted, nobody
from leasehold.metrics import Metrics
from leasehold.platforms import Catalogue, Platform
from leasehold.problems import fault, invalid

_PRIORITY = 4


class Jobs:
    """All that is done with jobs."""

    def __init__(self, db: Database, clock: Timekeeper, catalogue: Catalogue, metrics: Metrics, max_age_s: int) -> None:
        self._db = db
        self.catalogue = catalogue
        self.leases = KeptLeases(db, clock, TaskRows(), metrics, max_age_s)
        self._stock = TaskStock(self.leases, catalogue)
        self.counter: Counter[Order] = Counter(db, self.leases, self._stock, metrics)
        self._results = Results(self.leases, catalogue, max_age_s)

    async def submit(self, caller: Caller, request: CrawlRequest) -> Job:
        """Take a request in. The same job again is the first one, whatever it says this time."""
        platforms = self._platforms_for(request)
        organisation = caller.organisation
        first = uuid7()
        job = request.job_id or show(PREFIX, first)
        async with self._db.transaction(organisation) as conn:
            deadline_s = request.deadline_seconds or max(one.timeouts.deadline_seconds for one in platforms)
            is_new = await store.accept(conn, organisation, job, request, _priority(request, platforms), deadline_s)
            if is_new:
                ids = [first, *(uuid7() for _ in platforms[1:])]
                tasks = {one.slug: id_ for one, id_ in zip(platforms, ids, strict=True)}
                attempts = [request.max_attempts or one.retry.attempts for one in platforms]
                await store.add_tasks(conn, organisation, job, tasks, attempts)
                noted = Noted()
                for part in await store.parts_of(conn, organisation, [job]):
                    noted.add(part.task, "accepted", by=caller.name)
                await store.note(conn, organisation, noted)
            found = (await store.get(conn, organisation, [job], with_history=True))[job]
        if is_new:
            self._call(organisation, found.platforms)
        return found

    async def get(self, caller: Caller, job: str) -> Job:
        async with self._db.transaction(caller.organisation) as conn:
            return await _found(conn, caller.organisation, job)

    async def page(
        self, caller: Caller, which: JobFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Job]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, which, before, limit)

    async def results(
        self, caller: Caller, job: str, after: tuple[int, int] | None, limit: int
    ) -> list[tuple[str, int, int, Any]]:
        async with self._db.transaction(caller.organisation) as conn:
            found = await _found(conn, caller.organisation, job)
            tasks = [part.task.id for part in found.parts]
            return await store.results(conn, caller.organisation, tasks, after, limit)

    async def acquire(
        self,
        caller: Caller,
        wanted: Wanted,
        platforms: Sequence[str],
        task_types: Sequence[str] | None,
        once: Once | None = None,
    ) -> Offer[Order]:
        """Tasks of these platforms, as many as there are and as many as they bear."""
        for slug in platforms:
            self._platform(slug)
        return await self.counter.acquire(caller, replace(wanted, labels=wish(platforms, task_types)), once)

    async def take_results(self, caller: Caller, items: Sequence[Any]) -> list[Told]:
        told, freed = await self._results.take(caller, items)
        if freed:
            self._call(caller.organisation, freed)
        return told

    async def cancel(self, caller: Caller, job: str) -> Job:
        """No attempt begins any more; a worker that has it learns with its next heartbeat."""
        return await self._end(caller, job, Status.CANCELLED, "cancelled")

    async def retry(self, caller: Caller, job: str) -> Job:
        """Try again what has failed, timed out or was cancelled."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            before = await self._held(conn, organisation, job)
            again = [part.task for part in before.parts if part.task.status.is_over]
            again = [task for task in again if task.status is not Status.COMPLETED]
            if not again:
                raise WrongState("Nothing of this job has failed.", status_now=str(before.status))
            deadline_s = max(self._deadline_s(task.platform) for task in again)
            await store.extend(conn, organisation, [task.id for task in again], deadline_s)
            after = [replace(machine.again_later(task, 0.0), losses=0) for task in again]
            noted = Noted()
            for task in after:
                noted.add(task, "retried", by=caller.name)
            await store.settle(conn, organisation, after, {})
            await store.note(conn, organisation, noted)
            await audit.record(conn, caller, "job.retried", job, {"parts": len(after)})
            found = await _found(conn, organisation, job)
        self._call(organisation, found.platforms)
        return found

    async def books(self, caller: Caller) -> list[Books]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.books(conn, caller.organisation)

    async def dead_letters(
        self, caller: Caller, platform: str | None, reason: str | None, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[DeadLetter]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.dead_letters(conn, caller.organisation, platform, reason, before, limit)

    async def platforms(self, caller: Caller, slug: str | None = None) -> list[tuple[Platform, Depth, Pause | None]]:
        wanted = [self._platform(slug)] if slug else list(self.catalogue.platforms.values())
        async with self._db.transaction(caller.organisation) as conn:
            depths = await store.depths(conn, caller.organisation, slug)
            pauses = await store.pauses(conn, caller.organisation)
        return [(one, depths.get(one.slug, Depth()), pauses.get(one.slug)) for one in wanted]

    async def pause(self, caller: Caller, slug: str, reason: str | None) -> None:
        """Begin nothing more there; what is in hand goes on."""
        self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            if await store.pause(conn, caller.organisation, slug, caller.name, reason):
                await audit.record(conn, caller, "platform.paused", slug, {"reason": reason})

    async def resume(self, caller: Caller, slug: str) -> None:
        self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            if await store.resume(conn, caller.organisation, slug):
                await audit.record(conn, caller, "platform.resumed", slug, {})
        self._call(caller.organisation, [slug])

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """Book lost workers and deadlines that passed. Grants do not depend on it; states come sooner."""
        for organisation in organisations:
            ended = await self.leases.steadily(organisation, partial(self._stock.settle, organisation=organisation))
            self.leases.ended(organisation, ended)
            async with self._db.transaction(organisation) as conn:
                overdue = await store.expired_jobs(conn, organisation)
            for job in overdue:
                await self._end(nobody(organisation), job, Status.TIMED_OUT, "timed_out")

    async def ahead(self, caller: Caller, task: UUID) -> int:
        """How many would be begun before it."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.ahead(conn, caller.organisation, task)

    async def _end(self, caller: Caller, job: str, status: Status, event: str) -> Job:
        organisation = caller.organisation

        async def end(conn: Conn) -> tuple[Job, list[Ended]]:
            before = await self._held(conn, organisation, job)
            live = [part for part in before.parts if not part.task.status.is_over]
            if status is Status.TIMED_OUT:
                live = [part for part in live if part.deadline_at <= await _now(conn)]
            elif not live:
                raise WrongState("This job is over.", status_now=str(before.status))
            ended = await self._end_parts(conn, caller, live, status, event)
            return await _found(conn, organisation, job), ended

        found, ended = await self.leases.steadily(organisation, end)
        self.leases.ended(organisation, ended)
        self._call(organisation, found.platforms)
        return found

    async def _end_parts(
        self, conn: Conn, caller: Caller, parts: Sequence[Part], status: Status, event: str
    ) -> list[Ended]:
        organisation = caller.organisation
        over: list[Task] = [
            replace(part.task, status=status, sub_status=None, is_held=False, final_seq=None) for part in parts
        ]
        held = [part.lease for part in parts if part.lease is not None]
        ended = await leases.end(conn, organisation, held, Ending(Kind.TASK, How.REVOKED)) if held else []
        # What had run out and nobody had booked yet ends as it would have ended, by a clock that was looked at.
        late = await leases.end(conn, organisation, held, Ending(Kind.TASK, How.EXPIRED)) if held else []
        if late:
            await self.leases.look(conn)
        ended += late
        noted = Noted()
        for task in over:
            noted.add(task, event, by=caller.name)
        await store.settle(conn, organisation, over, {})
        await store.note(conn, organisation, noted)
        if status is Status.TIMED_OUT:
            missed = [Burial("timed_out", "{}", task, "Its deadline passed.") for task in over]
            await store.bury_tasks(conn, organisation, missed)
        elif over:
            await audit.record(conn, caller, f"job.{event}", over[0].job, {"parts": len(over)})
        return ended

    async def _held(self, conn: Conn, organisation: UUID, job: str) -> Job:
        """A job whose parts are kept from others."""
        first = await _found(conn, organisation, job)
        await store.hold_tasks(conn, organisation, [part.task.id for part in first.parts])
        return await _found(conn, organisation, job)

    def _call(self, organisation: UUID, platforms: Sequence[str]) -> None:
        """Something may be begun at these platforms, and that is committed."""
        self.counter.room.freed(organisation, platforms)

    def _platform(self, slug: str) -> Platform:
        found = self.catalogue.get(slug)
        if found is None:
            raise PlatformUnknown("No platform has this name.")
        return found

    def _deadline_s(self, slug: str) -> int:
        found = self.catalogue.get(slug)
        return found.timeouts.deadline_seconds if found else 86_400

    def _platforms_for(self, request: CrawlRequest) -> list[Platform]:
        """Where a request goes; raises InvalidRequest when it can go nowhere."""
        platforms: list[Platform] = []
        for slug in request.platforms:
            platform = self.catalogue.get(slug)
            if platform is None:
                raise invalid(fault("body", "/platform", "There is no such platform: GET /v2/platforms lists them."))
            kind = platform.task_types.get(request.task_type)
            if kind is None:
                known = ", ".join(platform.task_types)
                raise invalid(fault("body", "/task_type", f"The platform {slug} has no such type, only {known}."))
            if faults := kind.faults(request.payload):
                raise invalid(*(fault("body", f"/payload{where}", why) for where, why in faults[:10]))
            platforms.append(platform)
        return platforms


def _priority(request: CrawlRequest, platforms: Sequence[Platform]) -> int:
    if request.priority is not None:
        return request.priority
    return max((one.task_types[request.task_type].priority for one in platforms), default=_PRIORITY)


async def _found(conn: Conn, organisation: UUID, job: str) -> Job:
    found = (await store.get(conn, organisation, [job], with_history=True)).get(job)
    if found is None:
        raise JobUnknown("No job of your organisation has this id.")
    return found


async def _now(conn: Conn) -> datetime:
    row = await (await conn.execute("SELECT clock_timestamp()")).fetchone()
    assert row is not None  # noqa: S101 (a SELECT without FROM has a row)
    now: datetime = row[0]
    return now
