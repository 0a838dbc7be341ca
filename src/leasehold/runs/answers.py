"""Runs as they are answered, over HTTP and to those who watch."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.ids import show
from leasehold.runs.history import History
from leasehold.runs.machine import ItemStatus, Pause, Status, Verdict
from leasehold.runs.models import ITEM, RUN, Event, Run
from leasehold.strict import Answer

RunId = Annotated[UUID, PlainSerializer(lambda value: show(RUN, value), return_type=str)]
ItemId = Annotated[UUID, PlainSerializer(lambda value: show(ITEM, value), return_type=str)]

# A setting: a number, a text, several texts, or none.
Value = int | float | str | list[str] | None


class CategoryOut(Answer):
    id: str
    name: str
    items: int = Field(description="How many are wanted at the most.")
    unit_cost_micros: int | None = Field(description="Null when nobody wrote down the price.")


class CollectorOut(Answer):
    slug: str
    categories: list[CategoryOut]


class CollectorsOut(Answer):
    items: list[CollectorOut]


class EstimateLineOut(Answer):
    category: str
    items: int
    unit_cost_micros: int
    cost_micros: int


class PlannedLineOut(Answer):
    category: str
    items: int
    unit_cost_micros: int | None = Field(description="Null when nobody wrote down the price.")
    cost_micros: int = Field(description="Of all its items at the list price; 0 where that is not known.")


class ForecastOut(Answer):
    category: str
    low_cost_micros: int | None = Field(description="As in the cheapest of earlier runs; null without a price.")
    expected_cost_micros: int | None = Field(description="As in the middle of them.")
    high_cost_micros: int | None = Field(description="As in the dearest; not below the list price while there are few.")
    expected_items: int = Field(description="As many as were found in the middle of them; not more than are wanted.")
    collected_lately: int = Field(
        description="Different items that earlier runs have collected in the last `lately_days`. Items are found while "
        "the run goes: how many of these are listed again is not known before."
    )
    runs: int = Field(description="That it was learned from: the latest that were completed, 20 at the most.")
    confidence: str = Field(description="`from 14 runs`, `list price, never run` or `unknown price`.")


class EstimateOut(Answer):
    items: list[PlannedLineOut]
    total_cost_micros: int
    budget_cap_micros: int = Field(description="The one that was chosen for the run, else the organisation's.")
    organisation_cap_micros: int
    verdict: Verdict = Field(
        description="`warn` from the soft percent of the cap on, `blocked` above the cap of the organisation, and "
        "without a price."
    )
    forecast: list[ForecastOut] = Field(description="What each category is likely to cost, by what earlier runs did.")
    lately_days: int = Field(description="`skip_collected_days`, or 7.")
    low_cost_micros: int
    expected_cost_micros: int
    high_cost_micros: int
    pauses_near_item: int | None = Field(
        description="Where the cap is likely to end it; null when it bears what is expected."
    )


class CheckpointOut(Answer):
    at: datetime
    items: int = Field(description="So many were settled by then.")
    category: str | None = Field(description="Which is being enumerated; null when all are.")
    cursor: str | None


class RunOut(Answer):
    id: RunId
    name: str
    collector: str
    platform: str
    status: Status
    sub_status: str | None = Field(description="On its way: `waiting` for a slot, `pausing`, `cancelling`.")
    position: int | None = Field(description="Its place among those that wait for a slot.")
    pause_reason: Pause | None
    pause_detail: str | None
    categories: list[str]
    estimate: list[EstimateLineOut]
    estimated_cost_micros: int
    actual_cost_micros: int
    reserved_cost_micros: int
    budget_cap_micros: int
    soft_warning_percent: int
    total_items: int = Field(description="As estimated, until a category is enumerated to its end.")
    processed_items: int = Field(description="Those that were collected; failed and skipped ones are counted apart.")
    failed_items: int
    skipped_items: int
    in_flight: int
    max_in_flight: int = Field(description="So many are in hand at once.")
    skip_collected_days: int | None = Field(
        description="What other runs collected within so many days is skipped, and costs nothing."
    )
    dropped_categories: list[str] = Field(description="Nothing more is begun of these.")
    checkpoint: CheckpointOut | None
    warnings: list[dict[str, Any]]
    last_seq: int = Field(description="The number of its latest event.")
    created_by: str
    created_at: datetime
    started_at: datetime | None
    paused_at: datetime | None
    completed_at: datetime | None


class ItemOut(Answer):
    id: ItemId
    run_id: RunId
    category: str
    item_type: str
    external_id: str
    status: ItemStatus
    data: dict[str, Any]
    error_code: str | None
    error_message: str | None
    cost_micros: int
    job_id: str | None = Field(
        description="Null where nothing was asked for: its platform did not take it, or it was collected lately."
    )
    updated_at: datetime


class MovementOut(Answer):
    number: int
    at: datetime
    kind: str = Field(
        description="`reserve` before a paid call, then once `settle`, or `return` where nothing was paid."
    )
    purpose: str = Field(description="`item`, or `listing`: a page on which items are found.")
    item_id: str | None
    reserved_micros: int = Field(description="How much more is reserved by it; less where it is negative.")
    spent_micros: int


class CategoryProgressOut(Answer):
    category: str
    items: int
    completed: int
    failed: int
    skipped: int
    in_flight: int
    estimated_cost_micros: int
    cost_micros: int
    dropped: bool = Field(description="Nothing more is begun of it.")


class FailureOut(Answer):
    error_code: str | None
    items: int
    first_at: datetime
    last_at: datetime
    message: str | None = Field(description="The latest.")


class SpentOut(Answer):
    at: datetime
    spent_micros: int


class SummaryOut(Answer):
    categories: list[CategoryProgressOut]
    failures: list[FailureOut]
    spending: list[SpentOut] = Field(description="What was spent by when, for a chart.")


class SettingOut(Answer):
    path: list[str] = Field(
        description="Where it stands: its section, for a category or so which one, and its name. `_micros`, `_seconds` "
        "and `_percent` at the end say what it is counted in."
    )
    frozen: Value = Field(description="When the run was started, or planned; null where there was none.")
    current: Value = Field(description="In force for the run now; null where there is none any more.")
    differs: bool | None = Field(description="Null when it was not written down then.")


class ConfigOut(Answer):
    frozen_at: datetime | None = Field(
        description="When it was written down; null for runs from before that was done: little is known of them."
    )
    is_started: bool = Field(description="Until then it is what the run was planned with, and written down again.")
    differences: int
    items: list[SettingOut]


class RunCountsOut(Answer):
    pending: int
    running: int
    paused: int
    completed: int
    failed: int
    cancelled: int


class SpentDayOut(Answer):
    day: date = Field(description="From midnight to midnight, UTC.")
    spent_micros: int
    runs: int = Field(description="That spent something.")


class SpendingOut(Answer):
    items: list[SpentDayOut] = Field(description="Every day, the oldest first; the last is today.")


class SpanOut(Answer):
    state: str = Field(description="`pending`, `running` or `paused`.")
    pause_reason: Pause | None
    from_at: datetime
    to_at: datetime | None = Field(description="Null while it lasts.")


class PastOut(Answer):
    run: RunOut
    spans: list[SpanOut]


class HistoryOut(Answer):
    since: datetime
    now: datetime
    items: list[PastOut]


class EventsOut(Answer):
    items: list[dict[str, Any]] = Field(description="`{seq, type, run_id, at, …}`: the same as over the socket.")


class AllowanceOut(Answer):
    budget_cap_micros: int
    soft_warning_percent: int
    max_concurrent_runs: int


def run_out(run: Run) -> RunOut:
    place = run.enumerated
    at_work = run.categories[place.category] if place.category < len(run.categories) else None
    checkpoint = (
        CheckpointOut(at=run.checkpoint_at, items=run.done_items, category=at_work, cursor=place.cursor)
        if run.checkpoint_at
        else None
    )
    return RunOut(
        **{name: getattr(run, name) for name in _PLAIN},
        estimate=[EstimateLineOut(**line) for line in run.estimate],
        actual_cost_micros=run.spent_micros,
        reserved_cost_micros=run.reserved_micros,
        checkpoint=checkpoint,
    )


_OTHER = {"estimate", "actual_cost_micros", "reserved_cost_micros", "checkpoint"}
_PLAIN = [name for name in RunOut.model_fields if name not in _OTHER]


def history_out(history: History) -> HistoryOut:
    items = [
        PastOut(run=run_out(past.run), spans=[SpanOut.model_validate(one) for one in past.spans])
        for past in history.items
    ]
    return HistoryOut(since=history.since, now=history.now, items=items)


def event_out(event: Event) -> dict[str, Any]:
    """An event as everybody gets it, whichever way."""
    told = {"seq": event.seq, "type": event.type, "run_id": show(RUN, event.run), "at": event.at.isoformat()}
    return {**event.data, **told}


def snapshot(run: Run) -> dict[str, Any]:
    """Where a run is, for those who come in the middle of it."""
    whole = run_out(run).model_dump(mode="json")
    return {"seq": run.last_seq, "type": "snapshot", "run_id": show(RUN, run.id), "run": whole}
