"""Jobs, tasks and platforms over HTTP: parse, call, answer."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response
from pydantic import Field

from leasehold.auth import Permission
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router, unless_gone
from leasehold.jobs.answers import (
    AllBooksOut,
    BatchOut,
    BooksOut,
    DeadLetterOut,
    DocumentOut,
    ExplainOut,
    JobOut,
    OnePlatformOut,
    PlatformOut,
    PlatformsOut,
    SayingOut,
    TaskOfferOut,
    VerdictsOut,
    batch_out,
    job_out,
    named,
    offer_out,
    platform_out,
    read_batch,
    verdicts_out,
)
from leasehold.jobs.machine import Status
from leasehold.jobs.messages import CrawlerResult, CrawlRequest, Described
from leasehold.jobs.models import DeadLetterFilter, Job, JobFilter
from leasehold.jobs.problems import JobOfRun, JobUnknown, PlatformUnknown, WrongState, WrongTransport
from leasehold.jobs.service import Jobs
from leasehold.jobs.steering import Steer
from leasehold.leases import LeaseLost, Wanted
from leasehold.paging import Cursor, Limit, Page, decode, paged, time_and_id, time_and_text
from leasehold.platforms import Slug
from leasehold.problems import fault, invalid
from leasehold.strict import Line, Moment, Strict, answered
from leasehold.tracing import TraceDep

routes = router("jobs")

MAX_RESULTS = 1000
IdInPath = Annotated[str, Path(description="The job's id.", max_length=200)]
SlugInPath = Annotated[str, Path(description="The platform's name.", max_length=200)]


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


JobsDep = Annotated[Jobs, Depends(_jobs)]


class TaskAcquireIn(Strict):
    owner: Annotated[Line, Field(max_length=200, description="Who works on them, as the worker calls itself.")]
    platforms: list[Slug] = Field(min_length=1, max_length=50, description="What the worker can crawl.")
    task_types: list[Slug] | None = Field(None, min_length=1, max_length=50, description="Only tasks of these types.")
    limit: int = Field(1, ge=1, le=100, description="How many at the most.")
    ttl_seconds: int | None = Field(None, ge=5, le=3600, description="How long each lives without a sign of life.")
    wait_seconds: int = Field(0, ge=0, le=30, description="How long to wait for something to do.")
    priority: int = Field(4, ge=0, le=9, description="Among those who wait, higher is served first.")
    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$")] | None = Field(
        None, description="The job they are taken for, which need not be theirs; the leases end with it."
    )
    canary: bool = Field(False, description="Only tasks that are set apart to try out something new.")

    def wanted(self) -> Wanted:
        said = self.model_dump(include={"owner", "limit", "wait_seconds", "priority", "job_id"})
        return Wanted(**said, ttl_seconds=self.ttl_seconds or 0)


class ResultsIn(Strict):
    items: list[Annotated[Any, Described(CrawlerResult)]] = Field(
        min_length=1, max_length=MAX_RESULTS, description="CrawlerResult messages; each gets a verdict of its own."
    )


class BatchIn(Strict):
    items: list[Annotated[Any, Described(CrawlRequest)]] = Field(
        min_length=1, max_length=MAX_RESULTS, description="CrawlRequest messages; each gets an answer of its own."
    )


class JobChange(Strict):
    priority: int | None = Field(None, ge=0, le=9, description="Higher goes first.")
    not_before: Moment | None = Field(
        None, description="It begins then; what has passed is at once. What was left until the deadline moves along."
    )


class DeadLetterIn(Strict):
    reason: Line = Field(description="Why it is given up; the dead letter and the audit say so.")


class PauseIn(Strict):
    reason: Line | None = None


@routes.post("/v2/jobs", status_code=202, **allows(Permission.JOBS_SUBMIT))
async def submit_job(
    crawl: CrawlRequest, caller: CallerDep, jobs: JobsDep, trace: TraceDep, key: IdempotencyKey = None
) -> JobOut:
    """Ask for a crawl. The same `job_id` again is the same job, never a second one."""
    return job_out(await jobs.submit(caller, crawl.traced(trace), once(caller, "POST /v2/jobs", key, crawl)))


@routes.post("/v2/jobs/batch", status_code=202, **allows(Permission.JOBS_SUBMIT))
async def submit_jobs(
    batch: BatchIn, caller: CallerDep, jobs: JobsDep, trace: TraceDep, key: IdempotencyKey = None
) -> BatchOut:
    """Ask for many crawls at once. What can go nowhere is refused by itself; the others are taken in."""
    good, refused = read_batch(batch.items, jobs.catalogue, await jobs.known(caller.organisation, named(batch.items)))
    asked = {place: one.traced(trace) for place, one in good.items()}
    taken = await jobs.submit_batch(caller, asked, once(caller, "POST /v2/jobs/batch", key, batch))
    return batch_out(len(batch.items), refused, taken)


@routes.get("/v2/jobs", **allows(Permission.JOBS_VIEW))
async def list_jobs(
    caller: CallerDep,
    jobs: JobsDep,
    platform: Annotated[str | None, Query(max_length=200)] = None,
    status: Annotated[str | None, Query(max_length=200, description="Where they are; several by commas.")] = None,
    older_than_seconds: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Accepted before that.")] = None,
    run_id: Annotated[str | None, Query(max_length=200, description="Of this run.")] = None,
    error: Annotated[str | None, Query(max_length=200, description="Code of a part's last error, or its end.")] = None,
    attempt_over: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="In a later attempt than this.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[JobOut]:
    """Jobs, newest first. With `error` or `attempt_over` those of the last seven days are looked at."""
    which = JobFilter(platform, _statuses(status), older_than_seconds, run_id, error, attempt_over)
    rows = await jobs.page(caller, which, decode(cursor, time_and_text), limit + 1)
    items, following = paged(rows, limit, _place)
    return Page(items=[job_out(job) for job in items], next_cursor=following)


@routes.get("/v2/jobs/books", **allows(Permission.JOBS_VIEW))
async def job_books(caller: CallerDep, jobs: JobsDep) -> AllBooksOut:
    """Whether everything that was ever accepted is accounted for: `unaccounted` is 0."""
    return AllBooksOut(items=[BooksOut.model_validate(books) for books in await jobs.books(caller)])


@routes.get("/v2/jobs/dead-letters", **allows(Permission.JOBS_VIEW))
async def list_dead_letters(
    caller: CallerDep,
    jobs: JobsDep,
    platform: Annotated[str | None, Query(max_length=200)] = None,
    reason: Annotated[str | None, Query(max_length=200)] = None,
    replayed: Annotated[bool | None, Query(description="Only those that were replayed, or were not.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeadLetterOut]:
    """What could not be done, newest first, with the reason and what was asked for."""
    which = DeadLetterFilter(platform, reason, replayed)
    rows = await jobs.dead_letters(caller, which, decode(cursor, time_and_id), limit + 1)
    items, following = paged(rows, limit, lambda one: f"{one.at.isoformat()} {one.id.hex}")
    return Page(items=[DeadLetterOut.model_validate(one) for one in items], next_cursor=following)


@routes.get("/v2/jobs/{job_id}", **allows(Permission.JOBS_VIEW, JobUnknown))
async def get_job(job_id: IdInPath, caller: CallerDep, jobs: JobsDep) -> JobOut:
    """One job with its parts and its history."""
    return job_out(await jobs.get(caller, job_id))


@routes.patch("/v2/jobs/{job_id}", **allows(Permission.JOBS_MANAGE, JobUnknown, WrongState))
async def change_job(job_id: IdInPath, change: JobChange, caller: CallerDep, jobs: JobsDep) -> JobOut:
    """Make a job more or less urgent, or put it off. What a worker has in hand goes on; its next attempt is changed."""
    return job_out(await jobs.steer(caller, job_id, Steer(change.priority, change.not_before)))


@routes.get("/v2/jobs/{job_id}/results", **allows(Permission.JOBS_VIEW, JobUnknown))
async def list_results(
    job_id: IdInPath, caller: CallerDep, jobs: JobsDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[DocumentOut]:
    """What it brought, in the order it came."""
    rows = await jobs.results(caller, job_id, decode(cursor, _two_numbers), limit + 1)
    items, following = paged(rows, limit, lambda one: f"{one.number} {one.place}")
    return Page(
        items=[DocumentOut(platform=one.platform, document=dict(one.document)) for one in items],
        next_cursor=following,
    )


@routes.post("/v2/jobs/{job_id}/cancel", **allows(Permission.JOBS_MANAGE, JobUnknown, WrongState))
async def cancel_job(job_id: IdInPath, caller: CallerDep, jobs: JobsDep) -> JobOut:
    """End a job. No attempt begins any more; a worker that has it learns with its next heartbeat."""
    return job_out(await jobs.cancel(caller, job_id))


@routes.post("/v2/jobs/{job_id}/dead-letter", **allows(Permission.JOBS_MANAGE, JobUnknown, WrongState))
async def dead_letter_job(job_id: IdInPath, wish: DeadLetterIn, caller: CallerDep, jobs: JobsDep) -> JobOut:
    """Give up on a job: what is not over fails as if no attempt were left, with a dead letter that can be replayed."""
    return job_out(await jobs.dead_letter(caller, job_id, wish.reason))


@routes.post("/v2/jobs/{job_id}/retry", **allows(Permission.JOBS_MANAGE, JobUnknown, JobOfRun, WrongState))
async def retry_job(job_id: IdInPath, caller: CallerDep, jobs: JobsDep) -> JobOut:
    """Try again what failed, timed out or was cancelled, with one more attempt and a new deadline.

    Not an item of a run: that pays for it, and has a retry of its own.
    """
    return job_out(await jobs.retry(caller, job_id))


@routes.get("/v2/jobs/{job_id}/explain", **allows(Permission.JOBS_VIEW, JobUnknown))
async def explain_job(job_id: IdInPath, caller: CallerDep, jobs: JobsDep) -> ExplainOut:
    """Why it is where it is: which limit, how many go before it, and when that should clear."""
    parts = [SayingOut.model_validate(one) for one in await jobs.explain(caller, job_id)]
    return ExplainOut(detail=" ".join(part.detail for part in parts), parts=parts)


@routes.post(
    "/v2/tasks/acquire",
    response_model=TaskOfferOut,
    **allows(Permission.TASKS_WORK, PlatformUnknown, LeaseLost, WrongTransport, JobUnknown, WrongState),
)
async def acquire_tasks(
    request: Request, ask: TaskAcquireIn, caller: CallerDep, jobs: JobsDep, key: IdempotencyKey = None
) -> Response:
    """Take tasks on lease, the most urgent first. When there is nothing to do the answer is empty and says why."""
    asked = once(caller, "POST /v2/tasks/acquire", key, ask)
    offer = await unless_gone(
        request,
        jobs.acquire(caller, ask.wanted(), ask.platforms, ask.task_types, asked, is_canary=ask.canary),
        lambda granted: jobs.counter.take_back(caller, granted),
        is_long=ask.wait_seconds > 0,
    )
    return answered(offer_out(offer, jobs.catalogue))


@routes.post("/v2/tasks/results", status_code=202, **allows(Permission.TASKS_WORK))
async def take_results(results: ResultsIn, caller: CallerDep, jobs: JobsDep) -> VerdictsOut:
    """Bring results: each has a verdict, and what was accepted is durable before the answer."""
    return verdicts_out(await jobs.take_results(caller, results.items))


@routes.get("/v2/platforms", **allows(Permission.JOBS_VIEW))
async def list_platforms(caller: CallerDep, jobs: JobsDep) -> PlatformsOut:
    """Every platform there is, with its limits and how it stands."""
    found = await jobs.platforms(caller)
    return PlatformsOut(items=[PlatformOut.model_validate(platform_out(one)) for one in found])


@routes.get("/v2/platforms/{platform_slug}", **allows(Permission.JOBS_VIEW, PlatformUnknown))
async def get_platform(platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep) -> OnePlatformOut:
    """One platform, with what can be asked of it: a schema and an example for each type of task."""
    return platform_out((await jobs.platforms(caller, platform_slug))[0])


@routes.post("/v2/platforms/{platform_slug}/pause", **allows(Permission.JOBS_MANAGE, PlatformUnknown))
async def pause_platform(
    platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep, pause: PauseIn | None = None
) -> OnePlatformOut:
    """Begin nothing more there. What is in hand goes on."""
    await jobs.pause(caller, platform_slug, pause.reason if pause else None)
    return platform_out((await jobs.platforms(caller, platform_slug))[0])


@routes.post("/v2/platforms/{platform_slug}/resume", **allows(Permission.JOBS_MANAGE, PlatformUnknown))
async def resume_platform(platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep) -> OnePlatformOut:
    """Begin tasks there again."""
    await jobs.resume(caller, platform_slug)
    return platform_out((await jobs.platforms(caller, platform_slug))[0])


def _statuses(text: str | None) -> list[Status]:
    try:
        return [Status(word) for word in dict.fromkeys(text.split(","))] if text is not None else []
    except ValueError:
        raise invalid(fault("query", "status", f"It must be of {', '.join(Status)}, several by commas.")) from None


def _place(job: Job) -> str:
    return f"{job.created_at.isoformat()} {job.id}"


def _two_numbers(text: str) -> tuple[int, int]:
    number, _, place = text.partition(" ")
    found = int(number), int(place)
    if not (0 <= found[0] < 2**63 and 0 <= found[1] < 2**31):
        raise ValueError("not a key")
    return found
