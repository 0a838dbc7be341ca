"""The life of a run, as pure functions: what may be done when, and what a checkpoint makes of it. No I/O."""

from dataclasses import dataclass
from enum import StrEnum

# A run is paused when most of its latest items failed, but not for the first few.
FAILURES_AT_LEAST = 20
FAILURES_PERCENT = 50
# The latest are about so many: what is older counts half, and half again.
LATEST = 200


class Status(StrEnum):
    """Where a run is."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


class Act(StrEnum):
    """What an operator does with a run."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


class Pause(StrEnum):
    """Why a run is paused."""

    OPERATOR = "operator"
    BUDGET = "budget"
    PROVIDER_DOWN = "provider_down"
    FAILURES = "failures"


class ItemStatus(StrEnum):
    """Where an item is."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What an estimate comes to."""

    OK = "ok"
    WARN = "warn"
    BLOCKED = "blocked"


_MAY = {
    Status.PENDING: {Act.START, Act.CANCEL},
    Status.RUNNING: {Act.PAUSE, Act.CANCEL},
    Status.PAUSED: {Act.RESUME, Act.CANCEL},
}


def may(status: Status, act: Act) -> bool:
    return act in _MAY.get(status, set())


def verdict(cost_micros: int, cap_micros: int, soft_percent: int) -> Verdict:
    if cost_micros > cap_micros:
        return Verdict.BLOCKED
    return Verdict.WARN if cost_micros * 100 >= cap_micros * soft_percent else Verdict.OK


def fits(free_micros: int, unit_micros: int, wanted: int) -> int:
    """How many items of a price a budget still bears."""
    return wanted if unit_micros == 0 else max(0, min(wanted, free_micros // unit_micros))


def room(max_in_flight: int, in_flight: int, at_once: int) -> int:
    """How many items may begin now: some at a time, so that a page is not asked for each of them."""
    step = min(at_once, max(1, max_in_flight // 2))
    free = max_in_flight - in_flight
    return min(at_once, free) if free >= step else 0


@dataclass(frozen=True, slots=True)
class Latest:
    """How the latest items went."""

    items: int = 0
    failed: int = 0

    def and_then(self, items: int, failed: int) -> "Latest":
        after = Latest(self.items + items, self.failed + failed)
        return Latest(after.items // 2, after.failed // 2) if after.items > LATEST else after

    @property
    def is_too_bad(self) -> bool:
        return self.items >= FAILURES_AT_LEAST and self.failed * 100 > FAILURES_PERCENT * self.items


def is_soft_limit_passed(spent_and_reserved: int, cap_micros: int, soft_percent: int) -> bool:
    return cap_micros > 0 and spent_and_reserved * 100 >= cap_micros * soft_percent
