"""Runs over HTTP: parse, call, answer."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.door import CallerDep, IdempotencyKey, allows, once, router
from leasehold.ids import parse, show
from leasehold.jobs import WrongState
from leasehold.paging import Cursor, Limit, Page, decode, paged, time_and_id, uuid_key
from leasehold.problems import fault, invalid
from leasehold.runs.answers import (
    AllowanceOut,
    CollectorOut,
    CollectorsOut,
    ConfigOut,
    EstimateOut,
    EventsOut,
    HistoryOut,
    ItemOut,
    MovementOut,
    RunCountsOut,
    RunOut,
    SpendingOut,
    SpentDayOut,
    SummaryOut,
    event_out,
    history_out,
    run_out,
)
from leasehold.runs.machine import Act, ItemStatus, Status
from leasehold.runs.models import ITEM, RUN, Entry, Plan, RunFilter
from leasehold.runs.problems import BudgetExceeded, PlatformMissing, PriceMissing, RunUnknown, unknown_run
from leasehold.runs.service import Runs
from leasehold.runs.steering import Change
from leasehold.runs.watching import TICK_S, Watchers
from leasehold.strict import Line, Strict

routes = router("runs")

_MOST_MICROS = 10**15
_EVENTS = 200
IdInPath = Annotated[str, Path(description="The run's id.", max_length=200)]
Micros = Annotated[int, Field(ge=0, le=_MOST_MICROS)]


async def _runs(request: Request) -> Runs:
    runs: Runs = request.app.state.runs
    return runs


async def _watchers(request: Request) -> Watchers:
    watchers: Watchers = request.app.state.watchers
    return watchers


RunsDep = Annotated[Runs, Depends(_runs)]
WatchersDep = Annotated[Watchers, Depends(_watchers)]


class PlanIn(Strict):
    collector: Annotated[str, Field(min_length=1, max_length=100)]
    categories: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(min_length=1, max_length=1000)

    budget_cap_micros: Micros | None = Field(
        None,
        description="Of this run alone: not above the organisation's, which counts when it is left out. It may be "
        "below the estimate; the run pauses there.",
    )

    skip_collected_days: int | None = Field(
        None, ge=1, le=365, description="Leave out what runs of this collector collected within so many days."
    )

    def plan(self) -> Plan:
        return Plan(self.collector, _each_once(self.categories), self.budget_cap_micros, self.skip_collected_days)


class RunIn(PlanIn):
    name: Annotated[Line, Field(min_length=1, max_length=200)] | None = Field(
        None, description="`Collection YYYY-MM-DD HH:MM` when left out."
    )


class RunPatch(Strict):
    budget_cap_micros: Micros | None = Field(None, description="Never below what is spent and reserved.")
    name: Annotated[Line, Field(min_length=1, max_length=200)] | None = None
    max_in_flight: int | None = Field(None, ge=1, le=1000, description="So many items are in hand at once.")
    drop_categories: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        [], max_length=1000, description="No more items of these begin. What workers have in hand is finished."
    )


class RetryIn(Strict):
    error_code: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="Only those that failed so; all when left out."
    )


class AllowanceIn(Strict):
    """What changes; what is left out stays."""

    budget_cap_micros: Micros | None = Field(None, description="What one run may cost at the most.")
    soft_warning_percent: int | None = Field(None, ge=1, le=100, description="Of the cap: from here on it is warned.")
    max_concurrent_runs: int | None = Field(None, ge=1, le=1000)


@routes.get("/v2/runs/collectors", **allows(Permission.RUNS_VIEW))
async def list_collectors(caller: CallerDep, runs: RunsDep) -> CollectorsOut:
    """What can be collected, by whom, and what one item costs today."""
    found = await runs.categories(caller)
    return CollectorsOut(
        items=[
            CollectorOut.model_validate({"slug": slug, "categories": categories}, from_attributes=True)
            for slug, categories in found.items()
        ]
    )


@routes.post("/v2/runs/estimate", **allows(Permission.RUNS_VIEW, PlatformMissing))
async def estimate_run(plan: PlanIn, caller: CallerDep, runs: RunsDep) -> EstimateOut:
    """What a run may cost at the most and is likely to, category by category. Nothing is spent by asking."""
    return EstimateOut.model_validate(await runs.review(caller, plan.plan()))


@routes.post(
    "/v2/runs", status_code=201, **allows(Permission.RUNS_MANAGE, BudgetExceeded, PlatformMissing, PriceMissing)
)
async def create_run(new: RunIn, caller: CallerDep, runs: RunsDep, key: IdempotencyKey = None) -> RunOut:
    """Plan a run. It begins when it is started; one that may cost more than the cap is refused."""
    kept = once(caller, "POST /v2/runs", key, new)
    return run_out(await runs.create(caller, new.plan(), new.name, kept))


@routes.get("/v2/runs", **allows(Permission.RUNS_VIEW))
async def list_runs(
    caller: CallerDep,
    runs: RunsDep,
    status: Annotated[str | None, Query(max_length=200, description="Where they are; several by commas.")] = None,
    used_percent: Annotated[
        int | None, Query(ge=0, le=100, description="At least so much of the cap is spent or reserved.")
    ] = None,
    created_by: Annotated[str | None, Query(max_length=200, description="The name of who planned them.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[RunOut]:
    """Runs, newest first."""
    which = RunFilter(_statuses(status), used_percent, created_by)
    rows = await runs.page(caller, which, decode(cursor, time_and_id), limit + 1)
    items, following = paged(rows, limit, lambda run: f"{run.created_at.isoformat()} {run.id.hex}")
    return Page(items=[run_out(run) for run in items], next_cursor=following)


@routes.get("/v2/runs/counts", **allows(Permission.RUNS_VIEW))
async def count_runs(caller: CallerDep, runs: RunsDep) -> RunCountsOut:
    """How many runs are in each status."""
    return RunCountsOut.model_validate(await runs.counts(caller))


@routes.get("/v2/runs/spending", **allows(Permission.RUNS_VIEW))
async def show_spending(
    caller: CallerDep,
    runs: RunsDep,
    days: Annotated[int, Query(ge=1, le=92, description="How many, with today.")] = 30,
) -> SpendingOut:
    """What runs spent on each of the last days."""
    items = await runs.spending(caller, days)
    return SpendingOut(items=[SpentDayOut.model_validate(one) for one in items])


@routes.get("/v2/runs/history", **allows(Permission.RUNS_VIEW))
async def show_history(
    caller: CallerDep,
    runs: RunsDep,
    hours: Annotated[int, Query(ge=1, le=24 * 366, description="How far back.")] = 24,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> HistoryOut:
    """Runs that lived within the last hours, newest first, and when each of them waited, ran and was paused."""
    return history_out(await runs.history(caller, hours, limit))


@routes.get("/v2/runs/{run_id}", **allows(Permission.RUNS_VIEW, RunUnknown))
async def get_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> RunOut:
    """One run."""
    return run_out(await runs.get(caller, _id(run_id)))


@routes.patch("/v2/runs/{run_id}", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState))
async def change_run(run_id: IdInPath, patch: RunPatch, caller: CallerDep, runs: RunsDep) -> RunOut:
    """Another name; another cap, to resume what the budget has paused; more or fewer at once; categories left out."""
    wish = Change(patch.name, patch.budget_cap_micros, patch.max_in_flight, patch.drop_categories)
    return run_out(await runs.change(caller, _id(run_id), wish))


@routes.post("/v2/runs/{run_id}/start", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState, BudgetExceeded))
async def start_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> RunOut:
    """Begin, or wait for a slot: `position` says how many are before it. The cap is copied now."""
    return run_out(await runs.act(caller, _id(run_id), Act.START))


@routes.post("/v2/runs/{run_id}/pause", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState))
async def pause_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> RunOut:
    """Begin no more items; what workers have in hand is finished and paid for."""
    return run_out(await runs.act(caller, _id(run_id), Act.PAUSE))


@routes.post("/v2/runs/{run_id}/resume", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState, BudgetExceeded))
async def resume_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> RunOut:
    """Go on, or wait for a slot when all are taken."""
    return run_out(await runs.act(caller, _id(run_id), Act.RESUME))


@routes.post("/v2/runs/{run_id}/cancel", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState))
async def cancel_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> RunOut:
    """End it for ever. What was collected stays, what no worker has in hand is given back to the budget."""
    return run_out(await runs.act(caller, _id(run_id), Act.CANCEL))


@routes.post("/v2/runs/{run_id}/retry", **allows(Permission.RUNS_MANAGE, RunUnknown, WrongState))
async def retry_items(run_id: IdInPath, caller: CallerDep, runs: RunsDep, retry: RetryIn | None = None) -> RunOut:
    """Try once more what failed, within the cap. A run that was over goes on, or waits for a slot."""
    return run_out(await runs.retry(caller, _id(run_id), retry.error_code if retry else None))


@routes.get("/v2/runs/{run_id}/items", **allows(Permission.RUNS_VIEW, RunUnknown))
async def list_run_items(
    run_id: IdInPath,
    caller: CallerDep,
    runs: RunsDep,
    status: ItemStatus | None = None,
    category: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    newest_first: Annotated[bool, Query(description="The other way round.")] = False,
) -> Page[ItemOut]:
    """What it collects, in the order it was found; usable while it goes on."""
    after = decode(cursor, uuid_key)
    rows = await runs.items(caller, _id(run_id), status, category, after, limit + 1, newest_first=newest_first)
    items, following = paged(rows, limit, lambda item: item.id.hex)
    return Page(items=[ItemOut.model_validate(item) for item in items], next_cursor=following)


@routes.get("/v2/runs/{run_id}/ledger", **allows(Permission.RUNS_VIEW, RunUnknown))
async def list_run_ledger(
    run_id: IdInPath, caller: CallerDep, runs: RunsDep, limit: Limit = 50, cursor: Cursor = None
) -> Page[MovementOut]:
    """Every movement of its money, in order."""
    rows = await runs.ledger(caller, _id(run_id), decode(cursor, int) or 0, limit + 1)
    items, following = paged(rows, limit, lambda entry: str(entry.number))
    return Page(items=[_entry(entry) for entry in items], next_cursor=following)


@routes.get(
    "/v2/runs/{run_id}/ledger.csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}}},
    **allows(Permission.RUNS_VIEW, RunUnknown),
)
async def export_run_ledger(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> StreamingResponse:
    """The whole ledger for a spreadsheet."""
    run = _id(run_id)
    await runs.get(caller, run)
    headers = {"Content-Disposition": f'attachment; filename="{show(RUN, run)}-ledger.csv"'}
    return StreamingResponse(_csv(runs, caller, run), media_type="text/csv; charset=utf-8", headers=headers)


@routes.get("/v2/runs/{run_id}/summary", **allows(Permission.RUNS_VIEW, RunUnknown))
async def summarise_run(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> SummaryOut:
    """How each category does, failures by their code, and what was spent by when."""
    return SummaryOut.model_validate(await runs.summary(caller, _id(run_id)))


@routes.get("/v2/runs/{run_id}/config", **allows(Permission.RUNS_VIEW, RunUnknown))
async def show_run_config(run_id: IdInPath, caller: CallerDep, runs: RunsDep) -> ConfigOut:
    """What it was started with, beside what is in force for it now: its own settings, those of the organisation,
    prices, and its platform's file."""
    return ConfigOut.model_validate(await runs.config(caller, _id(run_id)))


@routes.get("/v2/runs/{run_id}/events", **allows(Permission.RUNS_VIEW, RunUnknown))
async def list_run_events(
    run_id: IdInPath,
    caller: CallerDep,
    runs: RunsDep,
    watchers: WatchersDep,
    since: Annotated[int, Query(ge=0, le=2**62, description="Only what came after this number.")] = 0,
    wait_seconds: Annotated[int, Query(ge=0, le=30, description="How long to wait when there is nothing.")] = 0,
    limit: Limit = _EVENTS,
    without: Annotated[str | None, Query(max_length=200, description="Types to leave out; several by commas.")] = None,
) -> EventsOut:
    """What happened, numbered: the same payloads as over the socket."""
    run = _id(run_id)
    event = watchers.join(run)
    try:
        deadline = asyncio.get_running_loop().time() + wait_seconds
        while True:
            event.clear()
            found = await runs.events(caller, run, since, limit, (without or "").split(","))
            left = deadline - asyncio.get_running_loop().time()
            if found or left <= 0:
                return EventsOut(items=[event_out(one) for one in found])
            await _wait(event, min(left, TICK_S))
    finally:
        watchers.leave(run, event)


@routes.get("/v2/settings", **allows(Permission.RUNS_VIEW))
async def get_settings(caller: CallerDep, runs: RunsDep) -> AllowanceOut:
    """What the organisation allows its runs."""
    return AllowanceOut.model_validate(await runs.allowance(caller))


@routes.put("/v2/settings", **allows(Permission.SETTINGS_MANAGE))
async def change_settings(given: AllowanceIn, caller: CallerDep, runs: RunsDep) -> AllowanceOut:
    """Change what is given. Runs that were started keep the cap they were started with."""
    changes = {name: value for name, value in given.model_dump().items() if value is not None}
    return AllowanceOut.model_validate(await runs.allow(caller, changes))


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


async def _csv(runs: Runs, caller: Caller, run: UUID) -> AsyncIterator[str]:
    yield ",".join(MovementOut.model_fields) + "\r\n"
    after = 0
    while entries := await runs.ledger(caller, run, after, 500):
        text = io.StringIO()
        writer = csv.writer(text)
        for entry in entries:
            writer.writerow(_entry(entry).model_dump(mode="json").values())
        yield text.getvalue()
        after = entries[-1].number


def _entry(entry: Entry) -> MovementOut:
    item = show(ITEM, entry.item) if entry.item else None
    plain = {name: getattr(entry, name) for name in MovementOut.model_fields if name != "item_id"}
    return MovementOut(item_id=item, **plain)


def _id(text: str) -> UUID:
    found = parse(RUN, text)
    if found is None:
        raise unknown_run()
    return found


def _each_once(categories: list[str]) -> list[str]:
    if len(set(categories)) != len(categories):
        raise invalid(fault("body", "/categories", "Name each category once."))
    return categories


def _statuses(text: str | None) -> list[Status] | None:
    if text is None:
        return None
    try:
        return [Status(word) for word in text.split(",")]
    except ValueError:
        raise invalid(fault("query", "status", f"It must be of {', '.join(Status)}, several by commas.")) from None
