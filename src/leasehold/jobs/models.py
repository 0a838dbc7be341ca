"""A job and what is known of its parts, as the house passes them around."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from leasehold.ids import parse
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.messages import CrawlRequest
from leasehold.leases import Ended
from leasehold.writers import Space

# How the ids of jobs begin that their producers gave no name.
PREFIX = "job"
DEAD_LETTER = "dead"
REPLAY = "replay"
# What takes going through job after job looks at the last seven days.
SEARCHED_S = 7 * 86_400
# How the ids of runs begin.
_RUN = "run"
# What is put off for good is put off until that year.
_NEVER = 9999


@dataclass(frozen=True, slots=True)
class Part:
    """What one platform has to do for a job, and how far it is."""

    task: Task
    created_at: datetime
    not_before: datetime
    deadline_at: datetime
    begun_at: datetime | None
    ended_at: datetime | None
    updated_at: datetime
    lease: UUID | None
    is_resting: bool  # before its next attempt
    is_published: bool = False  # it lies in a broker's queue, or a worker took it from there and has not said a word
    is_unheard: bool = False  # no worker can be blamed yet: not published, or not long enough ago

    @property
    def is_put_off(self) -> bool:
        """Whether it waits for whoever sent it: a run that is paused puts off what it has begun."""
        return self.task.status is Status.PENDING and self.not_before.year == _NEVER


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a task."""

    task: UUID
    at: datetime
    event: str
    attempt: int
    fence: int
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """A request for a crawl, and its life."""

    id: str
    task_type: str
    platforms: Sequence[str]
    payload: Mapping[str, Any]
    time_range: Mapping[str, Any] | None
    priority: int
    trace_ctx: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    run_id: str | None
    more: Mapping[str, Any]
    status: Status
    created_at: datetime
    deadline_at: datetime
    ended_at: datetime | None
    parts: Sequence[Part] = ()
    history: Sequence[Event] = ()

    @property
    def is_of_run(self) -> bool:
        """Whether a run keeps books of what it costs. Producers may name runs of their own, which are none of ours."""
        return is_run(self.run_id)


def is_run(run_id: str | None) -> bool:
    """Whether this is the id of a run that may be here."""
    return run_id is not None and parse(_RUN, run_id) is not None


@dataclass(frozen=True, slots=True)
class Order:
    """Everything a crawler is told."""

    task: UUID
    lease: UUID
    job: str
    attempt: int
    fence: int
    platform: str
    task_type: str
    payload: Mapping[str, Any]
    time_range: Mapping[str, Any] | None
    cursor: Any
    deadline_at: datetime
    trace_ctx: Mapping[str, Any] | None
    is_retry: bool
    organisation: UUID
    phase: str | None  # of the move of its results, where somebody has promoted it


@dataclass(frozen=True, slots=True)
class NewTask:
    """What one platform is to do for a job that is taken in."""

    id: UUID
    platform: str
    attempts: int
    is_canary: bool


@dataclass(frozen=True, slots=True)
class NewJob:
    """A request on its way in."""

    id: str
    request: CrawlRequest
    priority: int
    deadline_s: int
    tasks: Sequence[NewTask]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A chunk that is kept."""

    task: UUID
    platform: str
    job: str
    key: bytes
    cursor: str  # as JSON
    attempt: int
    fence: int
    sha256: bytes
    documents: Sequence[Mapping[str, Any]]
    late: bool
    is_written: bool  # in the same breath
    space: Space
    shadow_due: bool

    @property
    def chunk(self) -> str:
        return orjson.dumps(self.documents).decode()

    @property
    def is_needed_later(self) -> bool:
        return self.shadow_due or not self.is_written


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What could not be done."""

    id: UUID
    at: datetime
    platform: str | None
    job: str | None
    attempt: int | None
    reason: str
    detail: str | None
    payload: Mapping[str, Any]
    replayed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Burial:
    """Something on its way to the dead letters."""

    reason: str
    payload: str  # as JSON
    task: Task | None = None
    detail: str | None = None
    # What is known where there is no task.
    platform: str | None = None
    job: str | None = None


@dataclass(slots=True)
class Tally:
    """What a transaction did."""

    over: list[str] = field(default_factory=list)  # jobs that ended, with leases that were taken for them
    outcomes: Sequence[tuple[str, str, float | None]] = ()  # of attempts: platform, how, and how long a task took
    buried: Sequence[Burial] = ()
    lags: Sequence[tuple[str, float]] = ()  # of chunks that were written: platform, and since when they waited
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)  # on messages, by platform
    took: list[tuple[str, float]] = field(default_factory=list)  # of chunks that were accepted, as their crawlers say
    ended: Sequence[Ended] = ()  # leases that went with it


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are asked for."""

    platform: str | None = None
    statuses: Sequence[Status] = ()  # empty for all
    older_than_s: int | None = None
    run: str | None = None
    error: str | None = None  # the code of the last error of a part, or what it failed of
    attempt_over: int | None = None

    @property
    def within_s(self) -> int | None:
        """How far back is looked. No index has errors and attempts, so every job in between is gone through."""
        return SEARCHED_S if self.error is not None or self.attempt_over is not None else None


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Which dead letters are asked for."""

    platform: str | None = None
    reason: str | None = None
    replayed: bool | None = None


@dataclass(frozen=True, slots=True)
class Books:
    """What became of all that a platform was asked for."""

    platform: str
    accepted: int
    completed: int
    failed: int
    timed_out: int
    cancelled: int
    live: int

    @property
    def partial(self) -> int:
        """A part is never that: only a job of several is."""
        return 0

    @property
    def unaccounted(self) -> int:
        return self.accepted - self.completed - self.failed - self.timed_out - self.cancelled - self.live


@dataclass(slots=True)
class Noted:
    """What is written about tasks in one breath."""

    events: list[tuple[Task, str, dict[str, Any]]] = field(default_factory=list)

    def add(self, task: Task, event: str, **detail: Any) -> None:
        self.events.append((task, event, detail))


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which dead letters are meant: those named, or all that fit."""

    ids: Sequence[UUID] | None = None
    platform: str | None = None
    reason: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    with_replayed: bool = False


@dataclass(frozen=True, slots=True)
class ReplayWish:
    """What an operator wants to have tried again, and how."""

    which: LetterFilter
    dry_run: bool = False
    rate_per_second: float = 0.0  # 0 begins everything at once
    limit: int = 1000
    again: bool = False  # also what was replayed before


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter as far as replaying it goes."""

    id: UUID
    at: datetime
    platform: str | None
    job: str | None
    task: UUID | None
    reason: str
    payload: Mapping[str, Any]
    is_replayed: bool
    is_result: bool  # a message was refused; what it was about is not over by that
    run_id: str | None  # of its job


@dataclass(frozen=True, slots=True)
class LetterCount:
    """How many letters of a platform have one reason."""

    platform: str | None
    reason: str
    total: int
    open: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Skipped:
    """A letter that is not replayed, and why."""

    id: str
    detail: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a letter. In a dry run it may have no job yet."""

    id: UUID
    job: str | None
    what: str


@dataclass(frozen=True, slots=True)
class NewReplay:
    """A replay that begins."""

    id: UUID
    by_name: str
    rate_per_second: float
    matched: int
    left_over: int


@dataclass(frozen=True, slots=True)
class Replay:
    """Letters that were tried again together, and how far that is."""

    id: UUID
    at: datetime
    by_name: str
    rate_per_second: float
    matched: int
    left_over: int
    replayed: int
    skipped: Sequence[Mapping[str, str]]
    ended_at: datetime | None
    stopped_at: datetime | None
    waiting: int  # tasks that no worker has begun
    last_at: datetime | None  # when the last of them may begin
