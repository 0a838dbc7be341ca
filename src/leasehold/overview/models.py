"""How everything stands, as the house passes it around."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from leasehold.seeds import Histogram


class Matter(StrEnum):
    """What can need somebody."""

    BREAKER_OPEN = "breaker_open"  # of a platform: its attempts failed too often
    NO_WORKERS = "no_workers"  # tasks wait at a platform, and nobody takes them
    RUN_STOPPED = "run_stopped"  # a run was paused, and not by an operator
    SOURCE_FAILED = "source_failed"  # a sweep cannot go on by itself
    DEAD_LETTERS = "dead_letters"  # more of them within the last hour
    BUDGET = "budget"  # a run has passed its soft limit
    ACCOUNTS_BLOCKED = "accounts_blocked"  # of a site
    SEEDS_OVERDUE = "seeds_overdue"  # of a site
    PLATFORM_PAUSED = "platform_paused"
    SITE_PAUSED = "site_paused"


class Weight(StrEnum):
    BAD = "bad"  # something stands still that should not
    WARN = "warn"  # it will, or somebody wanted it to


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that needs somebody."""

    matter: Matter
    weight: Weight
    subject: str  # the platform, site, run or source it is about
    name: str  # what people call that
    count: int | None
    since: datetime | None
    detail: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened to jobs in one step of time."""

    at: datetime
    accepted: int = 0
    completed: int = 0
    failed: int = 0  # timed out and partly failed are failures, too
    cancelled: int = 0
    live: int = 0  # at its end

    @property
    def ended(self) -> int:
        return self.completed + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class Strip:
    """How attempts at a platform went in the last hour, five minutes at a time."""

    platform: str
    succeeded: Sequence[int]
    failed: Sequence[int]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits at a platform."""

    platform: str
    pending: int
    oldest_s: float | None
    in_flight: int


@dataclass(frozen=True, slots=True)
class Flow:
    """How jobs come and go."""

    accepted_per_minute: float
    ended_per_minute: float
    ended: int  # within the last quarter of an hour
    failed: int  # of those
    live: int
    pending: int
    worst: Backlog | None  # the platform whose oldest task has waited longest
    step_s: int
    moments: Sequence[Moment]
    strips: Sequence[Strip]


@dataclass(frozen=True, slots=True)
class Spend:
    """What runs cost today."""

    spent_micros: int
    reserved_micros: int
    cap_micros: int  # of the runs that spent or may spend today, together
    running: int
    paused: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything; None is what the caller may not see, or what cannot be had just now."""

    at: datetime
    flow: Flow | None
    spend: Spend | None
    accounts: Mapping[str, int] | None
    leases: Mapping[str, int] | None
    seeds: Histogram | None
    concerns: Sequence[Concern]
