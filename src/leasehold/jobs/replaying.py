"""Replaying dead letters over HTTP: parse, call, answer."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from fastapi import Depends, Query, Request
from pydantic import Field, PlainSerializer, model_validator

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.ids import parse, show
from leasehold.jobs.answers import DeadLetterId
from leasehold.jobs.models import DEAD_LETTER, REPLAY, LetterFilter, Replay, ReplayWish, Skipped
from leasehold.jobs.problems import ReplayUnknown
from leasehold.jobs.replay import Outcome, Replays
from leasehold.paging import Cursor, Limit, Page, decode, paged, time_and_id
from leasehold.strict import Answer, Line, Moment, Strict

routes = router("jobs")

_ROUTE = "POST /v2/jobs/dead-letters/replay"
ReplayId = Annotated[UUID, PlainSerializer(lambda value: show(REPLAY, value), return_type=str)]


async def _replays(request: Request) -> Replays:
    replays: Replays = request.app.state.replays
    return replays


ReplaysDep = Annotated[Replays, Depends(_replays)]


class LetterFilterIn(Strict):
    platform: Line | None = None
    reason: Line | None = None
    after: Moment | None = Field(None, description="Not older than this.")
    before: Moment | None = Field(None, description="Older than this.")


class ReplayIn(Strict):
    ids: list[Line] | None = Field(None, min_length=1, max_length=1000, description="These letters.")
    filter: LetterFilterIn | None = Field(None, description="Or all that fit; `{}` are all there are.")
    dry_run: bool = Field(False, description="Only say what would be done.")
    rate_per_second: float = Field(0.0, ge=0, le=1000, description="So many begin in a second; 0: all at once.")
    limit: int = Field(1000, ge=1, le=10_000, description="How many letters of the filter at the most.")
    again: bool = Field(False, description="Also letters that were replayed before.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids or a filter")
        return self

    def wish(self) -> ReplayWish:
        if self.ids is not None:
            ids = [found for name in dict.fromkeys(self.ids) if (found := parse(DEAD_LETTER, name))]
            which = LetterFilter(ids=ids, with_replayed=True)
        else:
            which = LetterFilter(**dict(self.filter or ()), with_replayed=self.again)
        return ReplayWish(which, self.dry_run, self.rate_per_second, self.limit, self.again)


class SkippedOut(Answer):
    id: str
    detail: str


class ReplayedOut(Answer):
    id: DeadLetterId
    job: str | None = Field(serialization_alias="job_id", description="Null in a dry run of a request without one.")
    what: str = Field(description="`retried`: a task gets another attempt; `submitted`: a request is sent again.")


class OutcomeOut(Answer):
    dry_run: bool
    replay: ReplayId | None = Field(description="What it can be stopped by; null when nothing was done.")
    matched: int = Field(description="How many letters were meant.")
    left: int = Field(description="How many of those were beyond `limit`.")
    replayed: int
    stopped: bool = Field(description="Somebody stopped it before it was done.")
    skipped: list[SkippedOut]
    items: list[ReplayedOut]


class ReplayOut(Answer):
    id: ReplayId
    at: datetime
    by_name: str
    rate_per_second: float
    matched: int
    left: int
    replayed: int
    skipped: int
    waiting: int = Field(description="Tasks that no worker has begun.")
    last_at: datetime | None = Field(description="When the last of those may begin.")
    ended_at: datetime | None = Field(description="Null while it goes on, or when its caller went away.")
    stopped_at: datetime | None


class StopIn(Strict):
    replay: Line


class StoppedOut(Answer):
    replay: ReplayId
    stopped: int = Field(description="Tasks that were put back.")
    replayed: int = Field(description="Letters that it had replayed.")


class LetterCountOut(Answer):
    platform: str | None
    reason: str
    total: int
    open: int = Field(description="Not replayed yet.")
    last_at: datetime


class LetterCountsOut(Answer):
    items: list[LetterCountOut]


@routes.get("/v2/jobs/dead-letters/counts", **allows(Permission.JOBS_VIEW))
async def count_dead_letters(
    caller: CallerDep, replays: ReplaysDep, platform: Annotated[str | None, Query(max_length=200)] = None
) -> LetterCountsOut:
    """How many dead letters there are of each platform and reason."""
    found = await replays.counts(caller, platform)
    return LetterCountsOut(items=[LetterCountOut.model_validate(one) for one in found])


@routes.post("/v2/jobs/dead-letters/replay", **allows(Permission.JOBS_MANAGE))
async def replay_dead_letters(
    request: Request, asked: ReplayIn, caller: CallerDep, replays: ReplaysDep, key: IdempotencyKey = None
) -> OutcomeOut:
    """Try dead letters again. It goes in batches and ends when you hang up; what was replayed by then stays so."""
    done = await unless_gone(
        request,
        replays.run(caller, asked.wish(), once(caller, _ROUTE, key, asked)),
        lambda _: None,
        is_long=True,
    )
    return _outcome(done, asked)


@routes.get("/v2/jobs/dead-letters/replays", **allows(Permission.JOBS_VIEW))
async def list_replays(
    caller: CallerDep, replays: ReplaysDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[ReplayOut]:
    """What was replayed, newest first, and how much of it has not begun."""
    rows = await replays.page(caller, decode(cursor, time_and_id), limit + 1)
    items, following = paged(rows, limit, lambda one: f"{one.at.isoformat()} {one.id.hex}")
    return Page(items=[_replay(one) for one in items], next_cursor=following)


@routes.post("/v2/jobs/dead-letters/replay/stop", **allows(Permission.JOBS_MANAGE, ReplayUnknown))
async def stop_replay(asked: StopIn, caller: CallerDep, replays: ReplaysDep) -> StoppedOut:
    """Put back what a replay took up and no worker has begun: it is a dead letter again."""
    found, stopped = await replays.stop(caller, parse(REPLAY, asked.replay) or UUID(int=0))
    return StoppedOut(replay=found.id, stopped=stopped, replayed=found.replayed)


def _outcome(done: Outcome, asked: ReplayIn) -> OutcomeOut:
    seen = {one.id for one in done.skipped} | {show(DEAD_LETTER, one.id) for one in done.items}
    missing = [] if done.is_stopped else [name for name in dict.fromkeys(asked.ids or ()) if name not in seen]
    unknown = [Skipped(name, "No dead letter of your organisation has this id.") for name in missing]
    return OutcomeOut(
        dry_run=asked.dry_run,
        replay=done.replay,
        matched=done.matched,
        left=done.left,
        replayed=len(done.items),
        stopped=done.is_stopped,
        skipped=[SkippedOut.model_validate(one) for one in [*done.skipped, *unknown]],
        items=[ReplayedOut.model_validate(one) for one in done.items],
    )


def _replay(replay: Replay) -> ReplayOut:
    return ReplayOut(
        id=replay.id,
        at=replay.at,
        by_name=replay.by_name,
        rate_per_second=replay.rate_per_second,
        matched=replay.matched,
        left=replay.left_over,
        replayed=replay.replayed,
        skipped=len(replay.skipped),
        waiting=replay.waiting,
        last_at=replay.last_at,
        ended_at=replay.ended_at,
        stopped_at=replay.stopped_at,
    )
