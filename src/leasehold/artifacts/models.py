"""What is published, as it is inside the house: counts over the whole installation, and no name of anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

Count = Annotated[int, Field(ge=0)]


class State(StrEnum):
    """How the installation is, from well to ill."""

    QUIET = "quiet"  # well, and nothing to do
    OK = "ok"
    DEGRADED = "degraded"  # works, but not as it should
    TROUBLE = "trouble"  # somebody has to see to it


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is not as it should be."""

    state: State
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Accounts:
    free: Count
    held: Count
    cooling: Count
    blocked: Count
    inactive: Count


@dataclass(frozen=True, slots=True)
class Seeds:
    resting: Annotated[int, Field(ge=0, description="Visited, and not due again yet.")]
    due: Count
    overdue: Annotated[int, Field(ge=0, description="Has waited for longer than it waits between two visits.")]
    held: Count
    off: Count


@dataclass(frozen=True, slots=True)
class Leases:
    account: Count
    seed: Count
    capture: Count
    task: Count


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of jobs; the last one is still on."""

    start: datetime
    arrived: Count
    completed: Count
    failed: Annotated[int, Field(ge=0, description="Failed, timed out, or completed in part.")]
    cancelled: Count


@dataclass(frozen=True, slots=True)
class Jobs:
    waiting: Count
    running: Count
    oldest_waiting_seconds: Annotated[
        float | None, Field(description="How long the first task has been due that nobody began.")
    ]
    ended_last_hour: Annotated[int, Field(ge=0, description="Completed or failed in the last sixty minutes.")]
    failed_last_hour: Count
    failure_rate: Annotated[float | None, Field(ge=0, le=1, description="Of those; null when there are none.")]
    dead_letters_last_day: Count
    hours: Annotated[Sequence[Hour], Field(min_length=24, max_length=24, description="Oldest first.")]


@dataclass(frozen=True, slots=True)
class Captures:
    waiting: Annotated[int, Field(ge=0, description="No consumer has taken them on.")]
    stuck: Count
    received_last_day: Count


@dataclass(frozen=True, slots=True)
class Runs:
    running: Count
    waiting: Count
    paused: Annotated[int, Field(ge=0, description="By people or because their budget is used up.")]
    stopped: Annotated[int, Field(ge=0, description="Paused because a provider is down or too much failed.")]


@dataclass(frozen=True, slots=True)
class Graph:
    entities: Count
    records: Count


@dataclass(frozen=True, slots=True)
class Sources:
    known: Count
    fresh: Annotated[int, Field(ge=0, description="Came to the end of a sweep within a day.")]
    sweeping: Count
    failed: Count


@dataclass(frozen=True, slots=True)
class Platforms:
    paused: Annotated[int, Field(ge=0, description="By people.")]
    resting: Annotated[int, Field(ge=0, description="Because most of what they did failed.")]


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that was counted, at one moment."""

    at: datetime
    accounts: Accounts
    seeds: Seeds
    leases: Leases
    jobs: Jobs
    captures: Captures
    runs: Runs
    spent_today_micros: int
    graph: Graph
    sources: Sources
    platforms: Platforms


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often there is an edition, and what a reader may make of its age."""

    interval_s: int
    stale_after_s: int

    @classmethod
    def every(cls, interval_s: int) -> "Schedule":
        """Stale is what should have been replaced three times. Where nobody publishes by the clock, an hour is long."""
        return cls(interval_s, max(300, 3 * interval_s) if interval_s else 3600)


@dataclass(frozen=True, slots=True)
class Published:
    """An artefact as it is kept in mind: where it is, and what it is."""

    name: str
    schema: str
    version: int
    path: str
    edition: int
    published_at: datetime
    bytes: int
    etag: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why the last turn brought nothing, if so."""

    error: str | None
    at: datetime | None
