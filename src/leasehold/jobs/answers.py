"""Jobs and tasks as they are answered."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, PlainSerializer, ValidationError

from leasehold.ids import show
from leasehold.jobs.intake import Taken, platforms_for
from leasehold.jobs.machine import Status, Verdict
from leasehold.jobs.messages import CollectorTask, CrawlRequest, WriterSaid
from leasehold.jobs.models import DEAD_LETTER, Job, Order, Part
from leasehold.jobs.policies import OverrideOut, PlatformPolicyOut, RateOut, override_out, rate_out
from leasehold.jobs.standing import OpenBreaker, Standing
from leasehold.leases import Grant, LeaseOut, Offer, WaitingOut, shown
from leasehold.platforms import Catalogue, Phase, Platform
from leasehold.problems import InvalidRequest, fault
from leasehold.strict import Answer
from leasehold.writers import Space, collection_name

DeadLetterId = Annotated[UUID, PlainSerializer(lambda value: show(DEAD_LETTER, value), return_type=str)]


class AcceptedOut(Answer):
    job_id: str | None = None
    created: bool = Field(False, description="Whether this is a new job; the first request of a name stands.")
    errors: list[dict[str, Any]] = Field(default_factory=list, description="Why it was refused.")


class BatchOut(Answer):
    items: list[AcceptedOut]


class PartOut(Answer):
    platform: str
    status: Status
    sub_status: str | None
    attempt: int
    max_attempts: int
    fence: int
    losses: int = Field(description="Workers that fell silent; not counted as attempts.")
    snoozes: int = Field(description="Times it was put off; not counted as attempts.")
    cost_micros: int
    not_before: datetime
    deadline_at: datetime
    result_count: int
    last_error: dict[str, Any] | None
    begun_at: datetime | None
    ended_at: datetime | None


class JobEventOut(Answer):
    at: datetime
    platform: str
    event: str
    attempt: int
    fence: int
    detail: dict[str, Any]


class JobOut(Answer):
    id: str
    platform: str | list[str]
    task_type: str
    payload: dict[str, Any]
    time_range: dict[str, Any] | None
    status: Status
    sub_status: str | None
    attempt: int = Field(description="The furthest of its parts.")
    max_attempts: int
    priority: int
    created_at: datetime
    deadline_at: datetime
    not_before: datetime
    ended_at: datetime | None
    run_id: str | None
    trace_ctx: dict[str, Any] | None
    metadata: dict[str, Any] | None
    parts: list[PartOut]
    result_count: int
    last_error: dict[str, Any] | None
    history: list[JobEventOut]


class DocumentOut(Answer):
    platform: str
    document: Any


class TaskLeaseOut(LeaseOut):
    task: CollectorTask


class TaskOfferOut(Answer):
    leases: list[TaskLeaseOut]
    waiting: WaitingOut | None


class VerdictOut(Answer):
    verdict: Verdict
    detail: str | None = None


class VerdictsOut(Answer):
    items: list[VerdictOut]


class BooksOut(Answer):
    platform: str
    accepted: int
    completed: int
    failed: int
    timed_out: int
    partial: int
    cancelled: int
    live: int
    unaccounted: int


class AllBooksOut(Answer):
    items: list[BooksOut]


class DeadLetterOut(Answer):
    id: DeadLetterId
    at: datetime
    platform: str | None
    job: str | None = Field(serialization_alias="job_id")
    attempt: int | None
    reason: str
    detail: str | None
    payload: dict[str, Any]
    replayed_at: datetime | None


class HolderOut(Answer):
    owner: str
    tasks: int
    until: datetime


class SayingOut(Answer):
    platform: str
    status: str
    reason: str
    detail: str
    position: int | None
    in_flight: int
    limit: int | None
    next_at: datetime | None
    holders: list[HolderOut] = Field(description="Who has tasks of the platform in hand, of your organisation.")


class ExplainOut(Answer):
    detail: str
    parts: list[SayingOut]


class TaskTypeOut(Answer):
    title: str
    schema_: dict[str, Any] = Field(serialization_alias="schema")
    example: dict[str, Any]


class BreakerOut(Answer):
    state: Literal["closed", "open"]
    opened_at: datetime | None = None
    reason: str | None = None
    next_probe_at: datetime | None = None
    probes: int = Field(description="Tasks that were begun to see whether it may close.")
    probing: bool = Field(description="Such a task is in hand now: it is half open.")


class RecentOut(Answer):
    succeeded: int
    failed: int = Field(description="With a code that is worth another attempt.")


class PlatformOut(Answer):
    platform: str
    title: str
    transport: str
    concurrency: int = Field(description="In force now.")
    attempts: int
    paused: bool
    paused_by: str | None
    pause_reason: str | None
    depth: int
    oldest_age_seconds: float | None
    in_flight: int
    failure_rate: float | None = Field(description="Of what ended in the last hour.")
    rate: RateOut | None = Field(description="In force now.")
    limits_override: OverrideOut | None = Field(description="Where its limits differ from its file for a while.")
    breaker: BreakerOut
    canary_share: float
    price_micros: int | None = Field(description="What a task or a document costs today.")
    writer: WriterSaid
    shadow: str | None = Field(description="Where results go besides while a move is compared.")


class OnePlatformOut(PlatformOut):
    task_types: dict[str, TaskTypeOut]
    policy: PlatformPolicyOut = Field(description="What its file says.")
    recent: RecentOut = Field(description="Attempts that ended within the window of its breaker.")
    may_change_limits: bool = Field(description="Whether operators of your organisation may do that live.")


class PlatformsOut(Answer):
    items: list[PlatformOut]


def job_out(job: Job) -> JobOut:
    parts = [_part(part) for part in job.parts]
    names = {part.task.id: part.task.platform for part in job.parts}
    last = max(job.parts, key=lambda part: (part.task.last_error is not None, part.updated_at))
    return JobOut(
        id=job.id,
        platform=job.platforms[0] if len(job.platforms) == 1 else list(job.platforms),
        task_type=job.task_type,
        payload=dict(job.payload),
        time_range=dict(job.time_range) if job.time_range is not None else None,
        status=job.status,
        sub_status=next((part.task.sub_status for part in job.parts if part.task.sub_status), None),
        attempt=max(part.task.attempt for part in job.parts),
        max_attempts=max(part.task.max_attempts for part in job.parts),
        priority=job.priority,
        created_at=job.created_at,
        deadline_at=job.deadline_at,
        not_before=min(part.not_before for part in job.parts),
        ended_at=job.ended_at,
        run_id=job.run_id,
        trace_ctx=dict(job.trace_ctx) if job.trace_ctx is not None else None,
        metadata=dict(job.metadata) if job.metadata is not None else None,
        parts=parts,
        result_count=sum(part.task.result_count for part in job.parts),
        last_error=last.task.last_error,
        history=[
            JobEventOut(
                at=one.at,
                platform=names[one.task],
                event=one.event,
                attempt=one.attempt,
                fence=one.fence,
                detail=dict(one.detail),
            )
            for one in job.history
        ],
    )


def _part(part: Part) -> PartOut:
    task = part.task
    return PartOut(
        platform=task.platform,
        status=task.status,
        sub_status=task.sub_status,
        attempt=task.attempt,
        max_attempts=task.max_attempts,
        fence=task.fence,
        losses=task.losses,
        snoozes=task.snoozes,
        cost_micros=task.cost_micros,
        not_before=part.not_before,
        deadline_at=part.deadline_at,
        result_count=task.result_count,
        last_error=task.last_error,
        begun_at=part.begun_at,
        ended_at=part.ended_at,
    )


def offer_out(offer: Offer[Order], catalogue: Catalogue) -> TaskOfferOut:
    waiting = WaitingOut.model_validate(offer.waiting) if offer.waiting else None
    return TaskOfferOut(leases=[_granted(one, catalogue) for one in offer.grants], waiting=waiting)


def _granted(grant: Grant[Order], catalogue: Catalogue) -> TaskLeaseOut:
    task = task_of(grant.resource, catalogue.get(grant.resource.platform))
    return TaskLeaseOut(**dict(shown(grant.lease)), task=task)


def task_of(order: Order, platform: Platform | None) -> CollectorTask:
    """What a crawler is told."""
    return CollectorTask(
        job_id=order.job,
        attempt=order.attempt,
        fence=order.fence,
        platform=order.platform,
        task_type=order.task_type,
        payload=dict(order.payload),
        time_range=dict(order.time_range) if order.time_range is not None else None,
        cursor=order.cursor,
        idempotency_token=f"{order.task.hex}-{order.attempt}",
        deadline_at=order.deadline_at,
        retry=order.is_retry,
        trace_ctx=dict(order.trace_ctx) if order.trace_ctx is not None else None,
        writer=_writer(platform, order.phase, order.organisation),
    )


def _writer(platform: Platform | None, promoted: str | None = None, organisation: UUID | None = None) -> WriterSaid:
    if platform is None:
        return WriterSaid(target="postgres", phase="primary", crawler_writes=False)
    phase = Phase(promoted) if promoted else platform.writer.phase
    is_theirs = phase.crawler_writes and platform.writer.target == "mongo" and organisation is not None
    space = collection_name(organisation, Space.MAIN) if is_theirs and organisation else None
    said = WriterSaid(target=platform.writer.target, phase=phase, crawler_writes=phase.crawler_writes)
    return said.model_copy(update={"space": space}) if space else said


def _breaker(found: OpenBreaker | None) -> BreakerOut:
    if found is None:
        return BreakerOut(state="closed", probes=0, probing=False)
    return BreakerOut(
        state="open",
        opened_at=found.opened_at,
        reason=found.reason,
        next_probe_at=found.probe_at,
        probes=found.probes,
        probing=found.is_probing,
    )


def platform_out(standing: Standing) -> OnePlatformOut:
    platform, depth, pause = standing.platform, standing.depth, standing.pause
    price = platform.price("", standing.today)
    return OnePlatformOut(
        platform=platform.slug,
        title=platform.title or platform.slug,
        transport=platform.transport,
        concurrency=standing.limits.concurrency,
        attempts=platform.retry.attempts,
        paused=pause is not None,
        paused_by=pause.by_name if pause else None,
        pause_reason=pause.reason if pause else None,
        depth=depth.depth,
        oldest_age_seconds=depth.oldest_s,
        in_flight=depth.in_flight,
        failure_rate=depth.failure_rate,
        rate=rate_out(standing.limits.rate),
        limits_override=override_out(standing.override, platform.limits),
        breaker=_breaker(standing.breaker),
        canary_share=platform.canary.share,
        price_micros=price.micros if price else None,
        writer=_writer(platform, standing.phase),
        shadow=platform.writer.shadow,
        task_types={
            name: TaskTypeOut(title=kind.title or name, schema_=kind.schema_, example=kind.example)
            for name, kind in platform.task_types.items()
        },
        policy=PlatformPolicyOut.model_validate(platform),
        recent=RecentOut(succeeded=standing.succeeded, failed=standing.failed),
        may_change_limits=standing.may_change_limits,
    )


def verdicts_out(told: Sequence[Any]) -> VerdictsOut:
    return VerdictsOut(items=[VerdictOut(verdict=one.verdict, detail=one.detail) for one in told])


def batch_out(many: int, refused: Mapping[int, AcceptedOut], taken: Mapping[int, Taken]) -> BatchOut:
    """An answer for each place. What a repeat finds to be good and the first time was not is still not taken in."""
    good = {place: AcceptedOut(job_id=one.job, created=one.is_new) for place, one in taken.items()}
    then = AcceptedOut(errors=[dict(fault("body", "", "It was refused when this was asked for first."))])
    told = {**refused, **good}
    return BatchOut(items=[told.get(place, then) for place in range(many)])


def named(items: Sequence[Any]) -> list[str]:
    """The names that producers gave what they ask for."""
    return [name for item in items if isinstance(item, dict) and isinstance(name := item.get("job_id"), str)]


def read_batch(
    items: Sequence[Any], catalogue: Catalogue, known: Collection[str]
) -> tuple[dict[int, CrawlRequest], dict[int, AcceptedOut]]:
    """The requests of a batch that can go somewhere or are known, by their place, and why the others are refused."""
    good: dict[int, CrawlRequest] = {}
    bad: dict[int, AcceptedOut] = {}
    for place, item in enumerate(items):
        try:
            request = CrawlRequest.model_validate(item)
            if request.job_id not in known:
                platforms_for(request, catalogue)
            good[place] = request
        except ValidationError as error:
            told = error.errors(include_url=False, include_input=False, include_context=False)
            where = ["/" + "/".join(str(step) for step in one["loc"]) for one in told]
            faults = [fault("body", path, one["msg"]) for path, one in zip(where, told, strict=True)]
            bad[place] = AcceptedOut(errors=list(faults))
        except InvalidRequest as error:
            bad[place] = AcceptedOut(errors=[dict(one) for one in error.members["errors"]])
    return good, bad
