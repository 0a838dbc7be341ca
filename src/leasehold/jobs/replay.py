"""Replaying dead letters: tasks get another attempt, requests are sent again; in batches, at a rate, until stopped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from pydantic import ValidationError

from leasehold import audit, idempotency
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.jobs import letters, machine, store
from leasehold.jobs.intake import take_in
from leasehold.jobs.letters import TakenUp
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.messages import CrawlRequest
from leasehold.jobs.models import (
    DEAD_LETTER,
    REPLAY,
    Letter,
    LetterCount,
    NewReplay,
    Noted,
    Part,
    Replay,
    Replayed,
    ReplayWish,
    Skipped,
    is_run,
)
from leasehold.jobs.problems import ReplayUnknown
from leasehold.jobs.service import Jobs
from leasehold.problems import InvalidRequest

# Small enough that whoever asks for work hardly waits for us, and that little is undone when the caller goes away.
_BATCH = 200

RETRIED, SUBMITTED = "retried", "submitted"


@dataclass(slots=True)
class Outcome:
    """What a replay did, or would do."""

    matched: int
    left: int  # meant as well, but beyond the limit
    replay: UUID | None = None
    skipped: list[Skipped] = field(default_factory=list)
    items: list[Replayed] = field(default_factory=list)
    is_stopped: bool = False
    begun: int = 0  # tasks so far, which is how long the next one rests
    last: Letter | None = None


@dataclass(slots=True)
class _Plan:
    """What is to be done with a batch of letters."""

    tasks: dict[UUID, tuple[Letter, Task]] = field(default_factory=dict)
    requests: list[tuple[Letter, CrawlRequest]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, letter: Letter, detail: str) -> None:
        self.skipped.append(Skipped(show(DEAD_LETTER, letter.id), detail))


class Replays:
    """All that is done with dead letters."""

    def __init__(self, db: Database, jobs: Jobs) -> None:
        self._db = db
        self._jobs = jobs

    async def counts(self, caller: Caller, platform: str | None) -> list[LetterCount]:
        async with self._db.transaction(caller.organisation) as conn:
            return await letters.counts(conn, caller.organisation, platform)

    async def page(self, caller: Caller, before: tuple[datetime, UUID] | None, limit: int) -> list[Replay]:
        async with self._db.transaction(caller.organisation) as conn:
            return await letters.replays(conn, caller.organisation, before, limit)

    async def run(self, caller: Caller, wish: ReplayWish, once: Once | None = None) -> Outcome:
        """Replay what is meant, a batch at a time: each is whole, and what was done stays done when the rest is not."""
        limit = len(wish.which.ids) if wish.which.ids is not None else wish.limit
        async with self._db.transaction(caller.organisation) as conn:
            if once and not wish.dry_run and (made := await idempotency.claim(conn, once)):
                return await self._repeated(conn, caller, UUID(hex=made))
            matched, until = await letters.count(conn, caller.organisation, wish.which)
            done = Outcome(matched, max(0, matched - limit))
            if not wish.dry_run:
                await self._open(conn, caller, wish, done, once)
        while not done.is_stopped and limit > 0:
            taken = await self._batch(caller, wish, done, until, min(limit, _BATCH))
            if taken == 0:
                break
            limit -= taken
        if done.replay:
            async with self._db.transaction(caller.organisation) as conn:
                await letters.end_replay(conn, caller.organisation, done.replay)
        return done

    async def stop(self, caller: Caller, replay: UUID) -> tuple[Replay, int]:
        """Begin nothing more of it; returns how many tasks were put back. What a worker has begun goes on."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            # Whoever is in the middle of a batch is waited for here, and begins no other.
            if not await letters.stop_replay(conn, organisation, replay):
                raise ReplayUnknown("No replay of your organisation has this id.")
            await audit.record(conn, caller, "replay.stopped", show(REPLAY, replay), {})
        stopped = 0
        while taken := await self._put_back(caller, replay):
            stopped += taken
        async with self._db.transaction(organisation) as conn:
            (found,) = await letters.replays(conn, organisation, None, 1, replay)
        return found, stopped

    async def _open(self, conn: Conn, caller: Caller, wish: ReplayWish, done: Outcome, once: Once | None) -> None:
        """Note that it begins, so that it can be stopped; nothing is noted of a replay of nothing."""
        if done.matched == 0:
            if once:
                await idempotency.forget(conn, once)
            return
        done.replay = uuid7()
        new = NewReplay(done.replay, caller.name, wish.rate_per_second, done.matched, done.left)
        await letters.open_replay(conn, caller.organisation, new)
        if once:
            await idempotency.keep(conn, once, done.replay.hex)

    async def _repeated(self, conn: Conn, caller: Caller, replay: UUID) -> Outcome:
        """What an earlier request did, as far as it is now."""
        (found,) = await letters.replays(conn, caller.organisation, None, 1, replay)
        rows = await letters.replayed(conn, caller.organisation, replay)
        return Outcome(
            found.matched,
            found.left_over,
            replay,
            [Skipped(**one) for one in found.skipped],
            [Replayed(letter, job, RETRIED if is_again else SUBMITTED) for letter, job, is_again in rows],
            found.stopped_at is not None,
        )

    async def _batch(self, caller: Caller, wish: ReplayWish, done: Outcome, until: datetime, limit: int) -> int:
        """Look at the next letters and do what can be done; returns how many there were."""
        organisation = caller.organisation
        platforms: set[str] = set()
        async with self._db.transaction(organisation) as conn:
            if done.replay and await letters.is_stopped(conn, organisation, done.replay):
                done.is_stopped = True
                return 0
            found = await letters.hold(conn, organisation, wish.which, until, done.last, limit)
            if not found:
                return 0
            plan = await self._plan(conn, organisation, found, again=wish.again)
            if done.replay:
                items, begun, platforms = await self._do(conn, caller, plan, done, wish.rate_per_second)
                done.begun = begun
            else:
                items = [Replayed(one.id, one.job, RETRIED) for one, _ in plan.tasks.values()]
                items += [Replayed(one.id, request.job_id, SUBMITTED) for one, request in plan.requests]
        done.items += items
        done.skipped += plan.skipped
        done.last = found[-1]
        if platforms:
            self._jobs.call(organisation, sorted(platforms))
        return len(found)

    async def _plan(self, conn: Conn, organisation: UUID, found: Sequence[Letter], *, again: bool) -> _Plan:
        parts = await self._parts(conn, organisation, [one.task for one in found if one.task is not None])
        plan = _Plan()
        for letter in found:
            if letter.is_replayed and not again:
                plan.skip(letter, "It was replayed already.")
            elif letter.is_result:
                plan.skip(letter, "A result was refused here, which cannot be tried again. Its job may be.")
            elif is_run(letter.run_id):
                detail = (
                    f"Its run pays for it: POST /v2/runs/{letter.run_id}/retry tries again what failed of that run."
                )
                plan.skip(letter, detail)
            elif letter.task is not None:
                self._plan_task(plan, letter, parts.get(letter.task))
            else:
                self._plan_request(plan, letter)
        named = [request.job_id for _, request in plan.requests if request.job_id]
        taken = {part.task.job for part in await store.parts_of(conn, organisation, named)}
        for letter, request in list(plan.requests):
            if request.job_id in taken:
                plan.requests.remove((letter, request))
                plan.skip(letter, "There is a job of this id already.")
            elif request.job_id:
                taken.add(request.job_id)
        return plan

    async def _parts(self, conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> Mapping[UUID, Part]:
        """The tasks of letters, kept from others."""
        if not tasks:
            return {}
        await store.hold_tasks(conn, organisation, set(tasks))
        jobs = await store.jobs_of(conn, organisation, tasks)
        return {part.task.id: part for part in await store.parts_of(conn, organisation, jobs)}

    def _plan_task(self, plan: _Plan, letter: Letter, part: Part | None) -> None:
        if part is None:
            plan.skip(letter, "Its job is gone.")
        elif not part.task.status.is_over or part.task.id in plan.tasks:
            plan.skip(letter, "It is being tried again already.")
        elif part.task.status in (Status.COMPLETED, Status.CANCELLED):
            plan.skip(letter, f"It was {part.task.status} since.")
        elif self._jobs.catalogue.get(part.task.platform) is None:
            plan.skip(letter, f"There is no platform {part.task.platform} any more.")
        else:
            plan.tasks[part.task.id] = (letter, part.task)

    def _plan_request(self, plan: _Plan, letter: Letter) -> None:
        try:
            request = CrawlRequest.model_validate(letter.payload)
            self._jobs.platforms_for(request)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = "/" + "/".join(str(step) for step in first["loc"])
            plan.skip(letter, f"It is refused again. {where}: {first['msg']}")
        except InvalidRequest as problem:
            first_fault = problem.members["errors"][0]
            plan.skip(letter, f"It is refused again. {first_fault['pointer']}: {first_fault['detail']}")
        else:
            plan.requests.append((letter, request))

    async def _do(
        self, conn: Conn, caller: Caller, plan: _Plan, done: Outcome, rate: float
    ) -> tuple[list[Replayed], int, set[str]]:
        """Write it all; returns what was replayed, how many tasks that makes so far, and where."""
        organisation, replay, begun = caller.organisation, done.replay, done.begun
        assert replay is not None  # noqa: S101 (a dry run does not come here)
        items: list[Replayed] = []
        taken: list[TakenUp] = []
        after: list[Task] = []

        def rest() -> float:
            return (begun + len(taken)) / rate if rate > 0 else 0.0

        for letter, task in plan.tasks.values():
            after.append(machine.replayed(task, 0.0))
            taken.append(TakenUp(task.id, rest(), self._jobs.deadline_s(task.platform)))
            items.append(Replayed(letter.id, task.job, RETRIED))
        await store.settle(conn, organisation, after, {})
        for letter, request in plan.requests:
            (taking,) = await take_in(conn, caller, [request], self._jobs.catalogue)
            if not taking.is_new:  # somebody has just sent it as well
                plan.skip(letter, "There is a job of this id already.")
                continue
            job = taking.job
            for part in await store.parts_of(conn, organisation, [job]):
                deadline_s = request.deadline_seconds or self._jobs.deadline_s(part.task.platform)
                taken.append(TakenUp(part.task.id, rest(), deadline_s))
                after.append(part.task)
            items.append(Replayed(letter.id, job, SUBMITTED))
        await letters.take_up(conn, organisation, replay, taken)
        await letters.mark(conn, organisation, replay, items)
        await letters.note_batch(conn, organisation, replay, len(items), plan.skipped)
        noted = Noted()
        for task in after:
            noted.add(task, "replayed", by=caller.name, replay=show(REPLAY, replay))
        await store.note(conn, organisation, noted)
        if items:
            told = {"letters": len(items), "rate_per_second": rate}
            await audit.record(conn, caller, "dead_letters.replayed", show(REPLAY, replay), told)
        return items, begun + len(taken), {task.platform for task in after}

    async def _put_back(self, caller: Caller, replay: UUID) -> int:
        """Some of what has not begun; returns how many that were."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            unbegun = await letters.hold_unbegun(conn, organisation, replay, _BATCH)
            if not unbegun:
                return 0
            parts = await self._parts(conn, organisation, unbegun)
            reasons = await letters.reopen(conn, organisation, replay, unbegun)
            after = [_stopped(parts[task].task, reasons.get(task)) for task in unbegun]
            noted = Noted()
            for task in after:
                noted.add(task, "stopped", by=caller.name, replay=show(REPLAY, replay))
            await store.settle(conn, organisation, after, {})
            await store.note(conn, organisation, noted)
        return len(after)


def _stopped(task: Task, reason: str | None) -> Task:
    """A task that was tried again is as dead as before. One of a request that was sent again was nothing before."""
    if reason is None:
        return replace(task, status=Status.CANCELLED, sub_status="stopped")
    return machine.put_back(task, reason)
