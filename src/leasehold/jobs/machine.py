"""The life of a task, as pure functions: what a message, a lost worker or the clock makes of it. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from leasehold.jobs.messages import CrawlerError, CrawlerResult
from leasehold.platforms import Retry

# A task that lost so many workers is not given to another.
MOST_LOSSES = 3
# What a task says of itself that waits for its writer alone.
WRITING = "writing"


class Status(StrEnum):
    """Where a task is, or a job, which may be `partial` besides."""

    PENDING = "pending"
    DISPATCHED = "dispatched"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    PARTIAL = "partial"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self not in _LIVE


_LIVE = frozenset({Status.PENDING, Status.DISPATCHED, Status.PROCESSING})


class Verdict(StrEnum):
    """What became of one message."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    SUPERSEDED = "superseded"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Task:
    """A task as far as its life goes."""

    id: UUID
    job: str
    platform: str
    task_type: str
    status: Status
    attempt: int
    max_attempts: int
    fence: int
    sub_status: str | None = None
    losses: int = 0
    is_held: bool = False  # a worker has it on a lease that lives
    cursor: Any = None
    seen: frozenset[int] = frozenset()
    final_seq: int | None = None
    final_status: str | None = None
    result_count: int = 0
    last_error: dict[str, Any] | None = None
    unwritten: int = 0  # chunks that were accepted and that the writer has not confirmed
    snoozes: int = 0
    cost_micros: int = 0
    rest_s: float | None = None  # from now on until it may be tried again

    @property
    def is_whole(self) -> bool:
        """The last word was said, and everything before it has come."""
        return self.final_seq is not None and self.missing == 0

    @property
    def missing(self) -> int:
        """How many of the messages 1..n have not come, once it was said how many there are."""
        last = self.final_seq or 0
        return last - sum(1 for number in self.seen if number <= last)

    @property
    def awaits_messages(self) -> bool:
        """It was said how many there are, and some are missing."""
        return self.final_seq is not None and not self.is_whole and not self.status.is_over

    def is_current(self, attempt: int, fence: int) -> bool:
        """Whether who speaks for this attempt and fence may change anything."""
        is_same = (attempt, fence) == (self.attempt, self.fence)
        return is_same and not self.status.is_over and (self.is_held or self.awaits_messages)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Documents under a cursor, and what is known of that cursor: the digest of what came first, or None."""

    key: bytes
    sha256: bytes
    known: bytes | None
    documents: int = 0  # that are to be written
    is_written_later: bool = False  # by a writer that has to confirm it

    @property
    def verdict(self) -> Verdict:
        if self.known is None:
            return Verdict.ACCEPTED
        return Verdict.DUPLICATE if self.known == self.sha256 else Verdict.CONFLICT


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a message, and of its task."""

    verdict: Verdict
    task: Task
    detail: str | None = None
    is_kept: bool = False  # its documents are
    is_late: bool = False
    renews: bool = False
    ends_lease: bool = False
    is_dead: str | None = None  # why it goes to the dead letters: the task, or what it brought
    is_fault: bool = False  # an attempt failed that is worth another: that speaks of the platform
    events: list[str] = field(default_factory=list)


def judge(task: Task, message: CrawlerResult, chunk: Chunk | None, retry: Retry, chance: float) -> Judged:
    """What a result does. The first word on a cursor stands; who was superseded changes nothing but may bring news."""
    if message.task_type != task.task_type:
        return Judged(Verdict.INVALID, task, "This job has another task_type.")
    if (message.attempt, message.fence) > (task.attempt, task.fence) or message.fence > task.fence:
        return Judged(Verdict.INVALID, task, "No such attempt was given out.")
    if not task.is_current(message.attempt, message.fence):
        return _of_the_past(task, message, chunk)
    verdict = chunk.verdict if chunk else Verdict.ACCEPTED
    is_kept = chunk is not None and verdict is Verdict.ACCEPTED
    if chunk is None and message.seq is not None and message.seq in task.seen:
        verdict = Verdict.DUPLICATE
    after = _heard(task, message, chunk if is_kept else None)
    detail = "Other documents came under this cursor before; those stand." if verdict is Verdict.CONFLICT else None
    judged = Judged(verdict, after, detail, is_kept=is_kept, renews=task.is_held)
    if verdict is Verdict.CONFLICT:
        judged = replace(judged, is_dead="conflict")
    if message.final:
        return _last_word(judged, message, retry, chance)
    return _completed_if_whole(judged)


def _of_the_past(task: Task, message: CrawlerResult, chunk: Chunk | None) -> Judged:
    is_same = (message.attempt, message.fence) == (task.attempt, task.fence)
    if chunk is None:
        # The last word once more is nothing new; a sign of life is told that it is wanted no more.
        is_known = is_same and message.final and (task.status.is_over or task.is_whole)
        ends = is_same and message.final and task.is_held
        return Judged(Verdict.DUPLICATE if is_known else Verdict.SUPERSEDED, task, ends_lease=ends)
    if chunk.verdict is Verdict.ACCEPTED:
        after = replace(task, result_count=task.result_count + chunk.documents, unwritten=_unwritten(task, chunk))
        ends = is_same and message.final and task.is_held
        return Judged(Verdict.SUPERSEDED, after, "kept", is_kept=True, is_late=True, ends_lease=ends)
    if chunk.verdict is Verdict.CONFLICT:
        return Judged(Verdict.CONFLICT, task, "Other documents came under this cursor before.", is_dead="conflict")
    return Judged(Verdict.DUPLICATE if is_same else Verdict.SUPERSEDED, task)


def _unwritten(task: Task, chunk: Chunk | None) -> int:
    return task.unwritten + (1 if chunk and chunk.is_written_later else 0)


def _heard(task: Task, message: CrawlerResult, kept: Chunk | None) -> Task:
    seen = task.seen | {message.seq} if message.seq is not None else task.seen
    count = task.result_count + (kept.documents if kept else 0)
    cursor = message.cursor if kept else task.cursor
    error = _error(message.errors) or task.last_error
    return replace(
        task,
        status=Status.PROCESSING,
        sub_status=task.sub_status if task.awaits_messages else None,
        seen=seen,
        result_count=count,
        cursor=cursor,
        last_error=error,
        unwritten=_unwritten(task, kept),
    )


def _error(errors: Sequence[CrawlerError]) -> dict[str, Any] | None:
    return errors[0].model_dump(mode="json", exclude_none=True, exclude={"schema_version"}) if errors else None


def _last_word(judged: Judged, message: CrawlerResult, retry: Retry, chance: float) -> Judged:
    ended = replace(judged, ends_lease=True, renews=False)
    if message.status == "failed":
        return _failed(ended, message, retry, chance)
    said = "skipped" if message.status == "skipped" else "success"
    task = replace(ended.task, final_seq=message.seq or 0, final_status=said)
    return _completed_if_whole(replace(ended, task=task))


def _completed_if_whole(judged: Judged) -> Judged:
    task = judged.task
    if task.final_seq is None:
        return judged
    if not task.is_whole:
        detail = f"{task.missing} messages are missing."
        return replace(judged, task=replace(task, sub_status="incomplete"), detail=detail)
    if task.unwritten:
        return replace(judged, task=replace(task, sub_status=WRITING))
    events = [*judged.events, "completed"]
    return replace(judged, task=replace(task, status=Status.COMPLETED, sub_status=None), events=events)


def _failed(judged: Judged, message: CrawlerResult, retry: Retry, chance: float) -> Judged:
    task = judged.task
    error = message.errors[0] if message.errors else CrawlerError(code="unknown", message="No reason was given.")
    said = replace(task, last_error=_error([error]))
    if error.code in retry.outages:
        return _snoozed(replace(judged, is_fault=True), said, error, retry, chance)
    if error.code in retry.snooze:
        return _snoozed(judged, said, error, retry, chance)
    if not retry.is_retryable(error.code, error.retryable):
        return _dead(judged, said, error.code)
    fault = replace(judged, is_fault=True)
    if task.attempt >= task.max_attempts:
        return _dead(fault, said, "attempts_exhausted")
    again = again_later(said, _wait_s(error, retry, task.attempt, chance))
    return replace(fault, task=again, events=[*judged.events, "failed", "retrying"])


def _snoozed(judged: Judged, task: Task, error: CrawlerError, retry: Retry, chance: float) -> Judged:
    if task.snoozes >= retry.snoozes:
        return _dead(judged, task, "snoozes_exhausted")
    wait_s = _wait_s(error, retry, task.snoozes + 1, chance)
    after = replace(_offered(task, "snoozed"), snoozes=task.snoozes + 1, rest_s=wait_s)
    return replace(judged, task=after, events=[*judged.events, "snoozed"])


def _wait_s(error: CrawlerError, retry: Retry, times: int, chance: float) -> float:
    told = error.retry_after_seconds
    return told if told is not None else retry.backoff.wait_s(times, chance)


def _dead(judged: Judged, task: Task, reason: str) -> Judged:
    over = replace(task, status=Status.FAILED, sub_status=reason)
    return replace(judged, task=over, is_dead=reason, events=[*judged.events, "failed"])


def written(task: Task, chunks: int) -> Task:
    """The writer has confirmed so many more. What only waited for that is completed."""
    after = replace(task, unwritten=max(0, task.unwritten - chunks))
    if after.status.is_over or not after.is_whole or after.unwritten:
        return after
    return replace(after, status=Status.COMPLETED, sub_status=None)


def unwritable(task: Task, chunks: int) -> Task:
    """The writer will never take so many of its chunks: it did not do what was asked."""
    after = replace(task, unwritten=max(0, task.unwritten - chunks))
    if after.status.is_over:
        return after
    return replace(after, status=Status.FAILED, sub_status="unwritable", is_held=False)


def again_later(task: Task, wait_s: float) -> Task:
    """The next attempt: nothing of what this one announced counts for it, its documents do."""
    return replace(_offered(task, "retrying"), attempt=task.attempt + 1, rest_s=wait_s)


def replayed(task: Task, wait_s: float) -> Task:
    """The next attempt because an operator wants it: the workers it lost before do not count any more."""
    return replace(again_later(task, wait_s), sub_status="replayed", losses=0)


def put_back(task: Task, reason: str) -> Task:
    """As it was before it was replayed: the attempt was never begun."""
    status = Status.TIMED_OUT if reason == Status.TIMED_OUT else Status.FAILED
    sub_status = None if status is Status.TIMED_OUT else reason
    return replace(task, status=status, sub_status=sub_status, attempt=task.attempt - 1)


def lost(task: Task) -> Task:
    """Its worker said nothing for too long. That is no attempt of the platform's."""
    losses = task.losses + 1
    if losses >= MOST_LOSSES:
        return replace(task, losses=losses, status=Status.FAILED, sub_status="worker_lost", is_held=False)
    return replace(_offered(task, "lost"), losses=losses)


def given_back(task: Task) -> Task:
    """Its worker gave it back undone, or it was taken away: another may have it at once."""
    return _offered(task, "returned")


def _offered(task: Task, why: str) -> Task:
    return replace(
        task,
        status=Status.PENDING,
        sub_status=why,
        is_held=False,
        seen=frozenset(),
        final_seq=None,
        final_status=None,
        rest_s=0.0,
    )


def together(parts: Sequence[Status]) -> Status:
    """How a job stands whose parts stand like this."""
    if live := [part for part in parts if not part.is_over]:
        order = (Status.PROCESSING, Status.DISPATCHED, Status.PENDING)
        begun = next(status for status in order if status in live)
        return Status.PROCESSING if begun is Status.PENDING and len(live) < len(parts) else begun
    if len(set(parts)) == 1:
        return parts[0]
    if Status.COMPLETED in parts:
        return Status.PARTIAL
    return Status.CANCELLED if Status.CANCELLED in parts else Status.FAILED
