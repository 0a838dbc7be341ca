"""Runs, their items, movements of money and events, as they are inside the house."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from leasehold.runs.machine import ItemStatus, Latest, Pause, Status, Verdict

RUN = "run"
ITEM = "item"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an organisation allows its runs."""

    budget_cap_micros: int = 25_000_000
    soft_warning_percent: int = 80
    max_concurrent_runs: int = 3


@dataclass(frozen=True, slots=True)
class Line:
    """What one category is thought to cost."""

    category: str
    items: int
    unit_cost_micros: int | None  # None when nobody wrote down the price

    @property
    def cost_micros(self) -> int:
        return self.items * (self.unit_cost_micros or 0)


@dataclass(frozen=True, slots=True)
class Plan:
    """What somebody wants collected, and how."""

    collector: str
    categories: Sequence[str]
    cap_micros: int | None = None  # chosen for this run; it may be below what is estimated
    skip_days: int | None = None  # what other runs collected within so many days is left out


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is thought to cost at the most, before anything is spent."""

    items: list[Line]
    budget_cap_micros: int
    verdict: Verdict

    @property
    def total_cost_micros(self) -> int:
        return sum(line.cost_micros for line in self.items)

    @property
    def without_price(self) -> list[str]:
        return [line.category for line in self.items if line.unit_cost_micros is None]


@dataclass(frozen=True, slots=True)
class Place:
    """How far a run is enumerated: what is before it is an item, what is after it is not."""

    category: int = 0
    cursor: str | None = None
    offset: int = 0  # within the page that the cursor stands for
    known: dict[str, int] = field(default_factory=dict)  # how many a category turned out to have

    def written(self) -> dict[str, Any]:
        return {"category": self.category, "cursor": self.cursor, "offset": self.offset, "known": self.known}


@dataclass(frozen=True, slots=True)
class Run:
    """A budgeted batch of items."""

    id: UUID
    name: str
    collector: str
    platform: str
    categories: list[str]
    status: Status
    sub_status: str | None
    pause_reason: Pause | None
    pause_detail: str | None
    estimate: list[dict[str, Any]]
    estimated_cost_micros: int
    budget_cap_micros: int
    has_own_cap: bool
    is_cap_planned: bool  # chosen with the plan, and may be below the estimate
    skip_collected_days: int | None
    soft_warning_percent: int
    warned_cap_micros: int | None
    spent_micros: int
    reserved_micros: int
    total_items: int
    processed_items: int
    failed_items: int
    skipped_items: int
    place: dict[str, Any]
    checkpoint_at: datetime | None
    recent_items: int
    recent_failed: int
    warnings: list[dict[str, Any]]
    last_seq: int
    created_by: str
    created_at: datetime
    wanted_at: datetime | None
    started_at: datetime | None
    paused_at: datetime | None
    completed_at: datetime | None
    driver_fence: int
    dropped_categories: list[str]  # nothing more is begun of these
    max_in_flight: int
    position: int | None  # among those that wait for a slot, from 1
    in_flight: int
    to_begin_again: int  # items that failed and are to be tried once more

    @property
    def free_micros(self) -> int:
        return self.budget_cap_micros - self.spent_micros - self.reserved_micros

    @property
    def done_items(self) -> int:
        return self.processed_items + self.failed_items + self.skipped_items

    @property
    def is_in_vain(self) -> bool:
        """Whether nothing came of it but failures. What was left out as collected lately is there already."""
        is_there = self.skip_collected_days is not None and self.skipped_items > 0
        return self.failed_items > 0 and self.processed_items == 0 and not is_there

    @property
    def latest(self) -> Latest:
        return Latest(self.recent_items, self.recent_failed)

    @property
    def enumerated(self) -> Place:
        return Place(**self.place)

    @property
    def enumerated_categories(self) -> list[str]:
        """Those that were enumerated to their end."""
        return self.categories[: self.enumerated.category]

    @property
    def is_at_dropped(self) -> bool:
        """Whether enumeration has come to a category that was dropped."""
        return not self.is_enumerated and self.categories[self.enumerated.category] in self.dropped_categories

    @property
    def is_resting(self) -> bool:
        """Whether it is paused, with nothing left to do until somebody comes."""
        return self.status is Status.PAUSED and not self.sub_status and self.pause_reason is not Pause.PROVIDER_DOWN

    @property
    def is_enumerated(self) -> bool:
        return self.enumerated.category >= len(self.categories)


@dataclass(frozen=True, slots=True)
class Again:
    """An item that is to be tried once more, with what was asked for it."""

    id: UUID
    category: str
    item_type: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to collect: one paid call."""

    id: UUID
    run_id: UUID
    category: str
    item_type: str
    external_id: str
    status: ItemStatus
    data: dict[str, Any]
    error_code: str | None
    error_message: str | None
    cost_micros: int
    job_id: str | None  # none where its platform did not take it
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item that is begun: reserved, and given to the broker under the name of its job."""

    id: UUID
    category: str
    item_type: str
    external_id: str
    job: str  # empty where its platform does not take it
    reserved_micros: int


@dataclass(frozen=True, slots=True)
class Finished:
    """An item whose job is over."""

    id: UUID
    category: str
    item_type: str
    external_id: str
    reserved_micros: int
    job: str
    task: UUID | None  # none where its platform did not take it
    job_status: str
    cost_micros: int
    error: dict[str, Any] | None
    documents: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A movement of money."""

    number: int
    item: UUID | None
    kind: str
    purpose: str
    reserved_micros: int
    spent_micros: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a run; `seq` counts from 1 without a gap."""

    run: UUID
    seq: int
    type: str
    at: datetime
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CategoryProgress:
    """How one category does."""

    category: str
    items: int
    completed: int
    failed: int
    skipped: int
    in_flight: int
    estimated_cost_micros: int
    cost_micros: int
    dropped: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """Items that failed for the same reason."""

    error_code: str | None
    items: int
    first_at: datetime
    last_at: datetime
    message: str | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent by then."""

    at: datetime
    spent_micros: int


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are asked for."""

    statuses: Sequence[Status] | None = None
    used_percent: int | None = None  # of the cap, spent or reserved
    created_by: str | None = None  # the name of the token that planned them


@dataclass(frozen=True, slots=True)
class SpentDay:
    """What all runs spent on one day, UTC."""

    day: date
    spent_micros: int
    runs: int  # that spent something


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers."""

    categories: list[CategoryProgress]
    failures: list[Failure]
    spending: list[Spent]
