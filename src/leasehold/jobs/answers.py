"""Jobs and tasks as they are answered."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.ids import show
from leasehold.jobs.machine import Status, Verdict
from leasehold.jobs.messages import CollectorTask, WriterSaid
from leasehold.jobs.models import DEAD_LETTER, Depth, Job, Order, Part, Pause
from leasehold.leases import Grant, LeaseOut, Offer, WaitingOut, shown
from leasehold.platforms import Catalogue, Platform
from leasehold.strict import Answer

DeadLetterId = Annotated[UUID, PlainSerializer(lambda value: show(DEAD_LETTER, value), return_type=str)]


class PartOut(Answer):
    platform: str
    status: Status
    sub_status: str | None
    attempt: int
    max_attempts: int
    fence: int
    losses: int = Field(description="Workers that fell silent; not counted as attempts.")
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


class SayingOut(Answer):
    platform: str
    status: str
    reason: str
    detail: str
    position: int | None
    in_flight: int
    limit: int | None
    next_at: datetime | None


class ExplainOut(Answer):
    detail: str
    parts: list[SayingOut]


class TaskTypeOut(Answer):
    title: str
    schema_: dict[str, Any] = Field(serialization_alias="schema")
    example: dict[str, Any]


class PlatformOut(Answer):
    platform: str
    title: str
    transport: str
    concurrency: int
    attempts: int
    paused: bool
    paused_by: str | None
    pause_reason: str | None
    depth: int
    oldest_age_seconds: float | None
    in_flight: int
    failure_rate: float | None = Field(description="Of what ended in the last hour.")
    writer: WriterSaid


class OnePlatformOut(PlatformOut):
    task_types: dict[str, TaskTypeOut]


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
        writer=_writer(platform),
    )


def _writer(platform: Platform | None) -> WriterSaid:
    if platform is None:
        return WriterSaid(target="postgres", phase="primary", crawler_writes=False)
    said = platform.writer
    return WriterSaid(target=said.target, phase=said.phase, crawler_writes=said.crawler_writes)


def platform_out(platform: Platform, depth: Depth, pause: Pause | None) -> OnePlatformOut:
    return OnePlatformOut(
        platform=platform.slug,
        title=platform.title or platform.slug,
        transport=platform.transport,
        concurrency=platform.limits.concurrency,
        attempts=platform.retry.attempts,
        paused=pause is not None,
        paused_by=pause.by_name if pause else None,
        pause_reason=pause.reason if pause else None,
        depth=depth.depth,
        oldest_age_seconds=depth.oldest_s,
        in_flight=depth.in_flight,
        failure_rate=depth.failure_rate,
        writer=_writer(platform),
        task_types={
            name: TaskTypeOut(title=kind.title or name, schema_=kind.schema_, example=kind.example)
            for name, kind in platform.task_types.items()
        },
    )


def verdicts_out(told: Sequence[Any]) -> VerdictsOut:
    return VerdictsOut(items=[VerdictOut(verdict=one.verdict, detail=one.detail) for one in told])
