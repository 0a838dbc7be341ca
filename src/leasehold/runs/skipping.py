"""What earlier runs have collected lately is left out, if that was planned: noted as skipped, and nothing is paid."""

from collections.abc import Sequence
from uuid import UUID

from leasehold.collectors import Wish
from leasehold.db import Conn
from leasehold.ids import show, uuid7
from leasehold.runs import store
from leasehold.runs.checkpoint import progress
from leasehold.runs.machine import ItemStatus
from leasehold.runs.models import ITEM, Run

CODE = "collected_lately"


async def lately(conn: Conn, organisation: UUID, run: Run, category: str, wishes: Sequence[Wish]) -> set[str]:
    """Those of a page that another run of the collector has collected within the days that were planned."""
    if run.skip_collected_days is None or not wishes:
        return set()
    given = {
        "run": run.id,
        "collector": run.collector,
        "category": category,
        "names": [wish.external_id for wish in wishes],
        "days": run.skip_collected_days,
    }
    rows = await conn.execute(store.SQL["collected_lately"], {"organisation": organisation, **given}, prepare=False)
    return {row[0] for row in await rows.fetchall()}


async def skip(conn: Conn, organisation: UUID, run: Run, wishes: Sequence[Wish]) -> int:
    """Note that these are left out; how many were not known already. Hold the run."""
    if not wishes:
        return 0
    message = f"Collected within the last {run.skip_collected_days} days."
    given = {
        "run": run.id,
        "ids": [uuid7() for _ in wishes],
        "categories": [wish.category for wish in wishes],
        "kinds": [wish.item_type for wish in wishes],
        "names": [wish.external_id for wish in wishes],
        "code": CODE,
        "detail": message,
    }
    rows = await conn.execute(store.SQL["skip_items"], {"organisation": organisation, **given}, prepare=False)
    skipped = [
        {
            "id": show(ITEM, id_),
            "category": category,
            "external_id": name,
            "status": str(ItemStatus.SKIPPED),
            "error_code": CODE,
            "error_message": message,
            "cost_micros": 0,
            "job_id": None,
        }
        for id_, category, name in await rows.fetchall()
    ]
    if skipped:
        await store.checkpoint(conn, organisation, run.id, {ItemStatus.SKIPPED: len(skipped)}, run.latest)
        told = progress(await store.get(conn, organisation, run.id)) | {"spent_now_micros": 0}
        await store.tell(conn, organisation, run.id, [("items", {"items": skipped}), ("progress", told)])
    return len(skipped)


async def sum_up(conn: Conn, organisation: UUID, run: Run, category: str) -> None:
    """Tell how many of a category were left out, now that all of it is listed. Hold the run."""
    if run.skip_collected_days is None:
        return
    given = {"organisation": organisation, "run": run.id, "category": category, "code": CODE}
    row = await (await conn.execute(store.SQL["count_skipped"], given)).fetchone()
    if row and row[0]:
        told = {"category": category, "items": row[0], "days": run.skip_collected_days}
        await store.tell(conn, organisation, run.id, [("collected_skipped", told)])
