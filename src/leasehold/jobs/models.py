"""A job and what is known of its parts, as the house passes them around."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.jobs.machine import Status, Task

# How the ids of jobs begin that their producers gave no name.
PREFIX = "job"
DEAD_LETTER = "dead"


@dataclass(frozen=True, slots=True)
class Part:
    """What one platform has to do for a job, and how far it is."""

    task: Task
    not_before: datetime
    deadline_at: datetime
    begun_at: datetime | None
    ended_at: datetime | None
    updated_at: datetime
    lease: UUID | None
    is_resting: bool  # before its next attempt


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


@dataclass(frozen=True, slots=True)
class Load:
    """What a platform has in hand, and how many organisations wait for it."""

    platform: str
    in_hand: int
    waiting: int
    ours: int
    is_paused: bool

    def room(self, limit: int) -> int:
        """How many more we may begin. Where others wait too, everybody has an equal share."""
        if self.is_paused:
            return 0
        free = max(0, limit - self.in_hand)
        if self.waiting <= 1:
            return free
        share = -(-limit // self.waiting)
        return min(free, max(0, share - self.ours))


@dataclass(frozen=True, slots=True)
class Receipt:
    """A chunk that is kept."""

    task: UUID
    key: bytes
    cursor: str  # as JSON
    attempt: int
    fence: int
    sha256: bytes
    chunk: str  # as JSON
    late: bool


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


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are asked for."""

    platform: str | None = None
    status: str | None = None


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


@dataclass(frozen=True, slots=True)
class Depth:
    """How a platform stands with an organisation."""

    depth: int = 0
    oldest_s: float | None = None
    in_flight: int = 0
    failure_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """That a platform was paused, and by whom."""

    platform: str
    paused_at: datetime
    by_name: str
    reason: str | None


@dataclass(slots=True)
class Noted:
    """What is written about tasks in one breath."""

    events: list[tuple[Task, str, dict[str, Any]]] = field(default_factory=list)

    def add(self, task: Task, event: str, **detail: Any) -> None:
        self.events.append((task, event, detail))
