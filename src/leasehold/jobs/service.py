"""Jobs: taken in, handed to workers, ended by what those bring, by time, or by an operator."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import alerts, audit, idempotency
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.jobs import endings, intake, limits, machine, outlook, overrides, receipts, store
from leasehold.jobs.aftermath import Aftermath
from leasehold.jobs.endings import JobEnding
from leasehold.jobs.intake import Taken
from leasehold.jobs.machine import Status
from leasehold.jobs.marks import Marks
from leasehold.jobs.messages import CrawlRequest
from leasehold.jobs.models import Books, Burial, DeadLetter, DeadLetterFilter, Job, JobFilter, Noted, Order, Part, Tally
from leasehold.jobs.moving import Moving
from leasehold.jobs.outlook import Saying
from leasehold.jobs.overrides import Preview
from leasehold.jobs.posting import Posting
from leasehold.jobs.problems import JobOfRun, JobUnknown, LimitsNotYours, PlatformUnknown, WrongState, WrongTransport
from leasehold.jobs.results import Results, Told
from leasehold.jobs.standing import Depth, LimitsWish, Standing
from leasehold.jobs.steering import Steer, steer
from leasehold.jobs.stock import TaskRows, TaskStock, wish
from leasehold.jobs.writing import Writers, Writing
from leasehold.leases import BoundLeases, Counter, Ended, KeptLeases, Offer, Timekeeper, Wanted, nobody
from leasehold.metrics import Metrics
from leasehold.platforms import Catalogue, Platform
from leasehold.writers import Found


class Jobs:
    """All that is done with jobs."""

    def __init__(
        self,
        db: Database,
        clock: Timekeeper,
        catalogue: Catalogue,
        writers: Writers,
        metrics: Metrics,
        max_age_s: int,
    ) -> None:
        self._db = db
        self.catalogue = catalogue
        self.marks = Marks(db)
        self._bound = BoundLeases(db)
        self._bound.refusal, self._bound.end = self.marks.refusal, self.marks.over
        aftermath = self._aftermath = Aftermath(self.marks, metrics.jobs, catalogue)
        self.moving = Moving(db, catalogue, writers)
        self.has_broker = False
        # Whose operators may change limits live; its slug.
        self.limits_organisation = "default"
        self.leases = KeptLeases(db, clock, TaskRows(catalogue, aftermath), metrics, max_age_s)
        self.writing = Writing(db, catalogue, writers, aftermath, self.leases)
        self.leases.is_cancelled = store.is_cancelled
        self._stock = TaskStock(self.leases, catalogue, aftermath)
        self.counter: Counter[Order] = Counter(db, self.leases, self._stock, metrics)
        self._results = Results(self.leases, catalogue, aftermath, max_age_s)
        self.posting = Posting(db, self.leases, self.counter, catalogue, max_age_s)

    async def submit(self, caller: Caller, request: CrawlRequest, once: Once | None = None) -> Job:
        """Take a request in. The same job again is the first one, whatever it says this time."""
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await _found(conn, caller.organisation, made)
            (taken,) = await intake.take_in(conn, caller, [request], self.catalogue)
            if once:
                await idempotency.keep(conn, once, taken.job)
            found = (await store.get(conn, caller.organisation, [taken.job], with_history=True))[taken.job]
        self.begin(caller.organisation, [taken])
        return found

    async def submit_many(self, caller: Caller, requests: Sequence[CrawlRequest]) -> list[Taken]:
        """Take requests in together, in their order. Raises InvalidRequest, and takes none, when one can go nowhere."""
        async with self._db.transaction(caller.organisation) as conn:
            taken = await intake.take_in(conn, caller, requests, self.catalogue)
        self.begin(caller.organisation, taken)
        return taken

    async def submit_batch(
        self, caller: Caller, requests: Mapping[int, CrawlRequest], once: Once | None
    ) -> dict[int, Taken]:
        """Take requests in by their places in a batch. A repeat takes none in and is told what the first was."""
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return intake.recalled(made)
            found = await intake.take_in(conn, caller, list(requests.values()), self.catalogue) if requests else []
            taken = dict(zip(requests, found, strict=True))
            if once and taken:
                await idempotency.keep(conn, once, intake.to_recall(taken))
            elif once:
                await idempotency.forget(conn, once)  # nothing was made that a repeat could find
        self.begin(caller.organisation, found)
        return taken

    async def known(self, organisation: UUID, names: Sequence[str]) -> set[str]:
        """Which of these jobs there are: what is asked under their names is not judged again."""
        async with self._db.transaction(organisation) as conn:
            return await intake.known(conn, organisation, names)

    def begin(self, organisation: UUID, taken: Sequence[Taken]) -> None:
        """New jobs are committed: call those who wait for work."""
        if platforms := sorted({slug for one in taken if one.is_new for slug in one.platforms}):
            self.call(organisation, platforms)

    async def get(self, caller: Caller, job: str) -> Job:
        async with self._db.transaction(caller.organisation) as conn:
            return await _found(conn, caller.organisation, job)

    async def page(
        self, caller: Caller, which: JobFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Job]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, which, before, limit)

    async def results(self, caller: Caller, job: str, after: tuple[int, int] | None, limit: int) -> list[Found]:
        async with self._db.transaction(caller.organisation) as conn:
            found = await _found(conn, caller.organisation, job)
        return await self.writing.read(caller.organisation, found.parts, after, limit)

    async def acquire(
        self,
        caller: Caller,
        wanted: Wanted,
        platforms: Sequence[str],
        task_types: Sequence[str] | None,
        once: Once | None = None,
        *,
        is_canary: bool = False,
    ) -> Offer[Order]:
        """Tasks of these platforms, as many as there are and as many as they bear."""
        for slug in platforms:
            if (transport := self._platform(slug).transport) != "http":
                raise WrongTransport("Its workers get their tasks from RabbitMQ.", platform=slug, transport=transport)
        labelled = replace(wanted, labels=wish(platforms, task_types, is_canary=is_canary))
        acquire = partial(self.counter.acquire, caller, labelled, once)
        return await self._bound.taken(caller, wanted.job_id, once, acquire, self.counter.take_back)

    async def take_results(self, caller: Caller, items: Sequence[Any]) -> list[Told]:
        told, freed = await self._results.take(caller, items)
        if freed:
            self.call(caller.organisation, freed)
        return told

    async def cancel(self, caller: Caller, job: str) -> Job:
        """No attempt begins any more; a worker that has it learns with its next heartbeat."""
        return await self._end(caller, job, endings.CANCELLED)

    async def dead_letter(self, caller: Caller, job: str, reason: str) -> Job:
        """Give up on what is not over: its parts fail as if no attempt were left, and can be replayed from there."""
        return await self._end(caller, job, endings.by_hand(caller.name, reason))

    async def retry(self, caller: Caller, job: str) -> Job:
        """Try again what has failed, timed out or was cancelled. Raises JobOfRun: a run pays for its own."""
        organisation = caller.organisation
        found, ended = await self.leases.steadily(organisation, partial(self._retry, caller=caller, job=job))
        self.leases.ended(organisation, ended)
        self.call(organisation, found.platforms)
        return found

    async def steer(self, caller: Caller, job: str, wish: Steer) -> Job:
        """Make it more or less urgent, or put it off."""
        async with self._db.transaction(caller.organisation) as conn:
            wish.refuse(await _now(conn))
            await steer(conn, caller, await self._held(conn, caller.organisation, job), wish)
            found = await _found(conn, caller.organisation, job)
        self.call(caller.organisation, found.platforms)
        return found

    async def bury(self, organisation: UUID, burials: Sequence[Burial]) -> None:
        """Keep what came and could not be taken in."""
        async with self._db.transaction(organisation) as conn:
            await store.bury_tasks(conn, organisation, burials)

    async def books(self, caller: Caller) -> list[Books]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.books(conn, caller.organisation)

    async def dead_letters(
        self, caller: Caller, which: DeadLetterFilter, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[DeadLetter]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.dead_letters(conn, caller.organisation, which, before, limit)

    async def platforms(self, caller: Caller, slug: str | None = None) -> list[Standing]:
        """How they stand: what waits, whether somebody has paused them, and how far the move of their results is."""
        wanted = [self._platform(slug)] if slug else list(self.catalogue.platforms.values())
        async with self._db.transaction(caller.organisation) as conn:
            depths = await store.depths(conn, caller.organisation, slug)
            pauses = await store.pauses(conn, caller.organisation)
            phases = await receipts.phases(conn, caller.organisation)
            breakers = await limits.breakers(conn, caller.organisation)
            changed = await overrides.in_force(conn, caller.organisation, [one.slug for one in wanted])
            is_ours = bool(slug) and await overrides.may(conn, caller.organisation, self.limits_organisation)
            recent = await limits.recent(conn, caller.organisation, wanted[0]) if slug else (0, 0)
            today = (await _now(conn)).date()
        return [
            Standing(
                one,
                depths.get(one.slug, Depth()),
                pauses.get(one.slug),
                phases.get(one.slug, one.writer.phase),
                breakers.get(one.slug),
                today,
                changed.get(one.slug),
                *recent,
                is_ours,
            )
            for one in wanted
        ]

    async def pause(self, caller: Caller, slug: str, reason: str | None) -> None:
        """Begin nothing more there; what is in hand goes on."""
        self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            if await store.pause(conn, caller.organisation, slug, caller.name, reason):
                await audit.record(conn, caller, "platform.paused", slug, {"reason": reason})
                await alerts.raise_(conn, caller.organisation, alerts.PLATFORM_PAUSED, slug, reason)

    async def resume(self, caller: Caller, slug: str) -> None:
        """Begin tasks there again, also where a breaker had opened."""
        self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            if await store.resume(conn, caller.organisation, slug):
                await audit.record(conn, caller, "platform.resumed", slug, {})
                await alerts.raise_(conn, caller.organisation, alerts.PLATFORM_RESUMED, slug)
            await limits.close(conn, caller, slug, "somebody said so")
        self.call(caller.organisation, [slug])

    async def change_limits(
        self, caller: Caller, slug: str, wish: LimitsWish, reason: str, until: datetime | None
    ) -> None:
        """Let it bear more or less for a while, over all organisations."""
        platform = self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            await self._refuse_strangers(conn, caller)
            overrides.refuse(until, await _now(conn))
            await overrides.set_(conn, caller, platform, wish, reason, until)
        self.call(caller.organisation, [slug])

    async def restore_limits(self, caller: Caller, slug: str) -> None:
        """Let it bear what its file says."""
        platform = self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            await self._refuse_strangers(conn, caller)
            await overrides.restore(conn, caller, platform)
        self.call(caller.organisation, [slug])

    async def preview_limits(self, caller: Caller, slug: str, wish: LimitsWish) -> Preview:
        """What other limits would do at once."""
        platform = self._platform(slug)
        async with self._db.transaction(caller.organisation) as conn:
            return await overrides.preview(conn, caller.organisation, platform, wish)

    async def _refuse_strangers(self, conn: Conn, caller: Caller) -> None:
        if not await overrides.may(conn, caller.organisation, self.limits_organisation):
            raise LimitsNotYours("Operators of another organisation alone may change what holds for all.")

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """Book lost workers and deadlines that passed. Grants do not depend on it; states come sooner."""
        for organisation in organisations:
            ended = await self.leases.steadily(organisation, partial(self._stock.settle, organisation=organisation))
            self.leases.ended(organisation, ended)
            async with self._db.transaction(organisation) as conn:
                overdue = await store.expired_jobs(conn, organisation)
                await limits.forget(conn, organisation)
                restored = await overrides.end(conn, organisation)
            if restored:
                self.call(organisation, restored)
            for job in overdue:
                await self._end(nobody(organisation), job, endings.TIMED_OUT)

    async def explain(self, caller: Caller, job: str) -> list[Saying]:
        """Why each part of a job is where it is."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await _found(conn, caller.organisation, job)
            sayings = []
            for part in found.parts:
                platform = self.catalogue.get(part.task.platform)
                facts = await outlook.look(conn, caller.organisation, part, platform) if platform else None
                sayings.append(outlook.explain(part, platform, facts, has_broker=self.has_broker))
        return sayings

    async def _retry(self, conn: Conn, caller: Caller, job: str) -> tuple[Job, list[Ended]]:
        organisation = caller.organisation
        before = await self._held(conn, organisation, job)
        if before.is_of_run:
            raise JobOfRun("A run pays for this job: have the run try again what failed.", run_id=before.run_id)
        again = [part.task for part in before.parts if part.task.status.is_over]
        again = [task for task in again if task.status is not Status.COMPLETED]
        if not again:
            raise WrongState("Nothing of this job has failed.", status_now=str(before.status))
        # By somebody who was not told yet that it was cancelled.
        held = [part.lease for part in before.parts if part.lease and part.task in again]
        ended = await self.leases.withdraw(conn, organisation, held)
        deadline_s = max(self.deadline_s(task.platform) for task in again)
        await store.extend(conn, organisation, [task.id for task in again], deadline_s)
        after = [replace(machine.again_later(task, 0.0), losses=0) for task in again]
        noted = Noted()
        for task in after:
            noted.add(task, "retried", by=caller.name)
        await store.settle(conn, organisation, after, {})
        await store.note(conn, organisation, noted)
        await audit.record(conn, caller, "job.retried", job, {"parts": len(after)})
        return await _found(conn, organisation, job), ended

    async def _end(self, caller: Caller, job: str, how: JobEnding) -> Job:
        organisation = caller.organisation

        async def end(conn: Conn) -> tuple[Job, list[Ended], Tally]:
            before = await self._held(conn, organisation, job)
            live = [part for part in before.parts if not part.task.status.is_over]
            if how.status is Status.TIMED_OUT:
                now = await _now(conn)
                live = [part for part in live if part.deadline_at <= now and part.task.sub_status != machine.WRITING]
            elif not live:
                raise WrongState("This job is over.", status_now=str(before.status))
            ended, tally = await self._end_parts(conn, caller, live, how)
            return await _found(conn, organisation, job), ended, tally

        found, ended, tally = await self.leases.steadily(organisation, end)
        self.leases.ended(organisation, ended)
        await self._aftermath.tell(organisation, tally)
        self.call(organisation, found.platforms)
        return found

    async def _end_parts(
        self, conn: Conn, caller: Caller, parts: Sequence[Part], how: JobEnding
    ) -> tuple[list[Ended], Tally]:
        organisation = caller.organisation
        # Who works on something that was cancelled is told so with the next heartbeat, and has it in hand until then.
        told = {part.task.id for part in parts if how.status is Status.CANCELLED and self._has_heartbeats(part)}
        over = [replace(how.of(part.task), is_held=_stays(part, told)) for part in parts]
        held = {part.lease: part.task.id for part in parts if part.lease is not None}
        spared = [lease for lease, task in held.items() if task in told]
        ended = await self.leases.withdraw(conn, organisation, list(held), spared)
        noted = Noted()
        for task in over:
            noted.add(task, how.event, by=caller.name, **how.told)
        tally = await store.settle(conn, organisation, over, {})
        await store.note(conn, organisation, noted)
        tally.buried = how.burials(over)
        await store.bury_tasks(conn, organisation, tally.buried)
        if over and how.is_somebodys:
            await audit.record(conn, caller, f"job.{how.event}", over[0].job, {"parts": len(over), **how.told})
        return ended, tally

    async def _held(self, conn: Conn, organisation: UUID, job: str) -> Job:
        """A job whose parts are kept from others."""
        first = await _found(conn, organisation, job)
        await store.hold_tasks(conn, organisation, [part.task.id for part in first.parts])
        return await _found(conn, organisation, job)

    def call(self, organisation: UUID, platforms: Sequence[str]) -> None:
        """Something may be begun at these platforms, and that is committed."""
        self.counter.room.freed(organisation, platforms)

    def _platform(self, slug: str) -> Platform:
        found = self.catalogue.get(slug)
        if found is None:
            raise PlatformUnknown("No platform has this name.")
        return found

    def deadline_s(self, slug: str) -> int:
        found = self.catalogue.get(slug)
        return found.timeouts.deadline_seconds if found else 86_400

    def _has_heartbeats(self, part: Part) -> bool:
        found = self.catalogue.get(part.task.platform)
        return found is not None and found.transport == "http"

    def platforms_for(self, request: CrawlRequest) -> list[Platform]:
        """Where a request goes; raises InvalidRequest when it can go nowhere."""
        return intake.platforms_for(request, self.catalogue)


def _stays(part: Part, told: Collection[UUID]) -> bool:
    return part.task.is_held and part.task.id in told


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
