"""Items that failed, tried once more: noted first, and begun by whoever drives the run, as its budget bears it."""

from uuid import UUID

from leasehold.db import Conn
from leasehold.ids import show, uuid7
from leasehold.jobs import take_in
from leasehold.leases import nobody
from leasehold.platforms import Catalogue
from leasehold.runs import ledger, store
from leasehold.runs.ledger import Cost
from leasehold.runs.machine import fits
from leasehold.runs.models import ITEM, Again, Run
from leasehold.runs.requests import request_for


async def note(conn: Conn, organisation: UUID, run: Run, error_code: str | None) -> int:
    """Have those tried again that failed, or that failed so; returns how many. Hold the run."""
    given = {"organisation": organisation, "run": run.id, "code": error_code, "dropped": run.dropped_categories}
    row = await (await conn.execute(store.SQL["note_again"], given)).fetchone()
    return int(row[0]) if row else 0


async def begin(conn: Conn, organisation: UUID, run: Run, catalogue: Catalogue, unit: int, most: int) -> list[Again]:
    """Begin so many of them at the most, and as many as can be paid for at the price of a unit. Hold the run."""
    many = fits(run.free_micros, unit, most)
    begun = await store.to_begin_again(conn, organisation, run.id, many) if many else []
    if not begun:
        return []
    costs = [Cost(item.id, unit) for item in begun]
    # The job it failed as stays as it was; this is another.
    jobs = [f"{show(ITEM, item.id)}.{uuid7().hex[-8:]}" for item in begun]
    await ledger.reserve(conn, organisation, run.id, costs, "item")
    tries = [(item.id, cost.reserved_micros, job) for item, cost, job in zip(begun, costs, jobs, strict=True)]
    await store.begin_again(conn, organisation, tries)
    requests = [request_for(run, job, item.item_type, item.payload) for item, job in zip(begun, jobs, strict=True)]
    await take_in(conn, nobody(organisation), requests, catalogue)
    return begun


async def give_up(conn: Conn, organisation: UUID, run: UUID, categories: list[str] | None = None) -> None:
    """What waits to be tried again is not: it has failed, as before. Hold the run."""
    given = {"organisation": organisation, "run": run, "categories": categories}
    await conn.execute(store.SQL["give_up_again"], given)
