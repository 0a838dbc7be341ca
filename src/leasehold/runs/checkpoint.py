"""A checkpoint: outcomes, what they cost and what they brought, in one transaction."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from leasehold.db import Conn
from leasehold.ids import show
from leasehold.runs import ledger, store
from leasehold.runs.ledger import Cost
from leasehold.runs.machine import ItemStatus, Pause, Status
from leasehold.runs.models import ITEM, Finished, Run
from leasehold.runs.service import pause, pause_beyond_cap


async def checkpoint(
    conn: Conn, organisation: UUID, now: Run, over: Sequence[Finished], found: dict[str, dict[str, Any]]
) -> None:
    """Settle items that are over. Hold the run."""
    ends = [(one, *_outcome(one, now.dropped_categories)) for one in over]
    costs = [Cost(one.id, one.reserved_micros, one.cost_micros) for one in over]
    spent = await ledger.settle(conn, organisation, now.id, costs, "item")
    await store.end_items(
        conn,
        organisation,
        [
            (one.id, status, code, message, cost.spent_micros, found.get(one.job, {}))
            for (one, status, code, message), cost in zip(ends, costs, strict=True)
        ],
    )
    done = Counter(status for _, status, _, _ in ends)
    latest = now.latest.and_then(len(ends), done[ItemStatus.FAILED])
    await store.checkpoint(conn, organisation, now.id, done, latest)
    shown = [
        {
            "id": show(ITEM, one.id),
            "category": one.category,
            "external_id": one.external_id,
            "status": str(status),
            "error_code": code,
            "error_message": message,
            "cost_micros": cost.spent_micros,
            "job_id": one.job or None,
        }
        for (one, status, code, message), cost in zip(ends, costs, strict=True)
    ]
    after = await store.get(conn, organisation, now.id)
    told = [("items", {"items": shown}), ("progress", progress(after) | {"spent_now_micros": spent})]
    await store.tell(conn, organisation, now.id, told)
    if await pause_beyond_cap(conn, organisation, after):
        return
    if latest.is_too_bad and now.status is Status.RUNNING:
        detail = f"{latest.failed} of the last {latest.items} items failed."
        await pause(conn, organisation, after, Pause.FAILURES, detail)


def progress(run: Run) -> dict[str, Any]:
    """How far a run is, in numbers that stand for themselves: whoever missed one misses nothing by the next."""
    return {
        "status": str(run.status),
        "total_items": run.total_items,
        "processed_items": run.processed_items,
        "failed_items": run.failed_items,
        "skipped_items": run.skipped_items,
        "in_flight": run.in_flight,
        "actual_cost_micros": run.spent_micros,
        "reserved_cost_micros": run.reserved_micros,
        "budget_cap_micros": run.budget_cap_micros,
    }


def _outcome(one: Finished, dropped: Sequence[str]) -> tuple[ItemStatus, str | None, str | None]:
    error = one.error or {}
    if one.job_status == "completed":
        return ItemStatus.COMPLETED, None, None
    if one.job_status == "cancelled" and one.category in dropped:
        return ItemStatus.SKIPPED, "dropped", "Its category was dropped before it began."
    if one.job_status == "cancelled":
        return ItemStatus.SKIPPED, "cancelled", "The run was cancelled before it began."
    return ItemStatus.FAILED, str(error.get("code") or one.job_status), str(error.get("message") or "") or None
