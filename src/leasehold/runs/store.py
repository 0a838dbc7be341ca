"""Runs in PostgreSQL: rows in, dataclasses out. Whoever changes a run holds its row first."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson
from psycopg.rows import class_row

from leasehold.db import Conn, Database, queries
from leasehold.runs.forecast import LATEST, Lesson
from leasehold.runs.history import History, Past, moves, spans
from leasehold.runs.machine import ItemStatus, Latest, Pause, Status
from leasehold.runs.models import (
    Again,
    Allowance,
    CategoryProgress,
    Entry,
    Estimate,
    Event,
    Failure,
    Finished,
    Item,
    NewItem,
    Place,
    Plan,
    Run,
    RunFilter,
    Spent,
    SpentDay,
    Summary,
)
from leasehold.runs.problems import unknown_run

SQL = queries("leasehold.runs")
# What listens for news of runs hears of it here.
CHANNEL = "leasehold_run"
# A chart has so many points at the most.
_STEPS = 200


def written(value: Any) -> str:
    """A value as it is given to a statement that wants JSON."""
    return orjson.dumps(value).decode()


async def allowance(conn: Conn, organisation: UUID) -> Allowance:
    cur = conn.cursor(row_factory=class_row(Allowance))
    await cur.execute(SQL["allowance"], {"organisation": organisation})
    return await cur.fetchone() or Allowance()


async def allow(conn: Conn, organisation: UUID, now: Allowance) -> None:
    given = {"cap": now.budget_cap_micros, "soft": now.soft_warning_percent, "slots": now.max_concurrent_runs}
    await conn.execute(SQL["allow"], {"organisation": organisation, **given})


async def create(
    conn: Conn,
    organisation: UUID,
    run: UUID,
    *,
    name: str | None,
    platform: str,
    estimate: Estimate,
    plan: Plan,
    soft: int,
    by: str,
) -> None:
    given = {
        "run": run,
        "name": name,
        "collector": plan.collector,
        "platform": platform,
        "categories": [line.category for line in estimate.items],
        "estimate": written(
            [
                {
                    "category": line.category,
                    "items": line.items,
                    "unit_cost_micros": line.unit_cost_micros,
                    "cost_micros": line.cost_micros,
                }
                for line in estimate.items
            ]
        ),
        "cost": estimate.total_cost_micros,
        "cap": estimate.budget_cap_micros,
        "is_planned": plan.cap_micros is not None,
        "skip_days": plan.skip_days,
        "soft": soft,
        "total": sum(line.items for line in estimate.items),
        "created_by": by,
    }
    await conn.execute(SQL["create"], {"organisation": organisation, **given})


async def learned(conn: Conn, organisation: UUID, collector: str, categories: Sequence[str]) -> list[Lesson]:
    """What the latest runs found and paid for, category by category."""
    cur = conn.cursor(row_factory=class_row(Lesson))
    given = {"collector": collector, "categories": list(categories), "limit": LATEST}
    await cur.execute(SQL["learned"], {"organisation": organisation, **given})
    return await cur.fetchall()


async def collected(conn: Conn, organisation: UUID, plan: Plan, days: int) -> dict[str, int]:
    """How many different things of each category were collected within so many days."""
    given = {"collector": plan.collector, "categories": list(plan.categories), "days": days}
    rows = await conn.execute(SQL["count_collected_lately"], {"organisation": organisation, **given})
    return dict(await rows.fetchall())


async def freeze(conn: Conn, organisation: UUID, run: UUID, config: Mapping[str, Any]) -> None:
    """Write down what a run goes by, in place of what was written down before."""
    await conn.execute(SQL["freeze"], {"organisation": organisation, "run": run, "config": written(config)})


async def frozen(conn: Conn, organisation: UUID, run: UUID) -> tuple[dict[str, Any] | None, datetime | None]:
    """What was written down of a run, and when; nothing of those from before."""
    row = await (await conn.execute(SQL["frozen"], {"organisation": organisation, "run": run})).fetchone()
    return (row[0], row[1]) if row else (None, None)


async def get(conn: Conn, organisation: UUID, run: UUID) -> Run:
    """Raises RunUnknown."""
    found = await several(conn, organisation, [run])
    if not found:
        raise unknown_run()
    return found[0]


async def several(conn: Conn, organisation: UUID, runs: Sequence[UUID]) -> list[Run]:
    """In the order they were asked for."""
    cur = conn.cursor(row_factory=class_row(Run))
    await cur.execute(SQL["runs"], {"organisation": organisation, "runs": list(runs)})
    found = {run.id: _read(run) for run in await cur.fetchall()}
    return [found[run] for run in runs if run in found]


def _read(run: Run) -> Run:
    # A dataclass takes what it is given: the words of the database become ours here.
    object.__setattr__(run, "status", Status(run.status))
    object.__setattr__(run, "pause_reason", Pause(run.pause_reason) if run.pause_reason else None)
    return run


async def hold(conn: Conn, organisation: UUID, run: UUID) -> Run:
    """A run that nobody else changes until this is committed; raises RunUnknown."""
    await conn.execute(SQL["hold"], {"organisation": organisation, "run": run})
    return await get(conn, organisation, run)


async def page(
    conn: Conn,
    organisation: UUID,
    which: RunFilter,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Run]:
    given = {
        "statuses": [str(one) for one in which.statuses] if which.statuses else None,
        "used_percent": which.used_percent,
        "created_by": which.created_by,
        "before": before[0] if before else None,
        "before_id": before[1] if before else None,
        "limit": limit,
    }
    rows = await (await conn.execute(SQL["page"], {"organisation": organisation, **given})).fetchall()
    return await several(conn, organisation, [row[0] for row in rows])


async def change(conn: Conn, statement: LiteralString, organisation: UUID, run: UUID, **given: object) -> bool:
    """Run one of the statements that change a run; whether it did."""
    cur = await conn.execute(statement, {"organisation": organisation, "run": run, **given})
    return cur.rowcount > 0


async def guard_slots(conn: Conn, organisation: UUID) -> None:
    await conn.execute(SQL["guard_slots"], {"organisation": organisation})


async def free_slots(conn: Conn, organisation: UUID) -> int:
    row = await (await conn.execute(SQL["slots_taken"], {"organisation": organisation})).fetchone()
    taken = row[0] if row else 0
    return max(0, (await allowance(conn, organisation)).max_concurrent_runs - int(taken))


async def next_in_line(conn: Conn, organisation: UUID, limit: int) -> list[UUID]:
    given = {"organisation": organisation, "limit": limit}
    return [row[0] for row in await (await conn.execute(SQL["next_in_line"], given)).fetchall()]


async def begin_items(conn: Conn, organisation: UUID, run: UUID, items: Sequence[NewItem]) -> set[UUID]:
    """Items from now on; those that were not there already."""
    given = {
        "ids": [one.id for one in items],
        "categories": [one.category for one in items],
        "kinds": [one.item_type for one in items],
        "names": [one.external_id for one in items],
        "reserves": [one.reserved_micros for one in items],
        "jobs": [one.job for one in items],
    }
    rows = await conn.execute(SQL["begin_items"], {"organisation": organisation, "run": run, **given}, prepare=False)
    return {row[0] for row in await rows.fetchall()}


async def to_begin_again(conn: Conn, organisation: UUID, run: UUID, limit: int) -> list[Again]:
    cur = conn.cursor(row_factory=class_row(Again))
    await cur.execute(SQL["to_begin_again"], {"organisation": organisation, "run": run, "limit": limit}, prepare=False)
    return await cur.fetchall()


async def begin_again(conn: Conn, organisation: UUID, items: Sequence[tuple[UUID, int, str]]) -> None:
    """Items that failed, with what is reserved for each and the job that tries it."""
    given = {
        "ids": [item for item, _, _ in items],
        "reserves": [micros for _, micros, _ in items],
        "jobs": [job for _, _, job in items],
    }
    await conn.execute(SQL["begin_again"], {"organisation": organisation, **given}, prepare=False)


async def note_place(conn: Conn, organisation: UUID, run: UUID, place: Place, total: int) -> None:
    given = {"organisation": organisation, "run": run, "place": written(place.written()), "total": total}
    await conn.execute(SQL["note_place"], given)


async def finished(conn: Conn, organisation: UUID, run: UUID, limit: int) -> list[Finished]:
    cur = conn.cursor(row_factory=class_row(Finished))
    await cur.execute(SQL["finished"], {"organisation": organisation, "run": run, "limit": limit}, prepare=False)
    return await cur.fetchall()


async def end_items(
    conn: Conn,
    organisation: UUID,
    ends: Sequence[tuple[UUID, ItemStatus, str | None, str | None, int, Mapping[str, Any]]],
) -> None:
    """Items that are over: their status, code and message of an error, cost, and data."""
    given = {
        "ids": [end[0] for end in ends],
        "statuses": [str(end[1]) for end in ends],
        "codes": [end[2] for end in ends],
        "error_messages": [end[3] for end in ends],
        "costs": [end[4] for end in ends],
        "datas": [written(end[5]) for end in ends],
    }
    await conn.execute(SQL["end_items"], {"organisation": organisation, **given}, prepare=False)


async def checkpoint(conn: Conn, organisation: UUID, run: UUID, done: Mapping[ItemStatus, int], latest: Latest) -> None:
    given = {
        "processed_now": done.get(ItemStatus.COMPLETED, 0),
        "failed_now": done.get(ItemStatus.FAILED, 0),
        "skipped_now": done.get(ItemStatus.SKIPPED, 0),
        "recent": latest.items,
        "recent_failed": latest.failed,
    }
    await conn.execute(SQL["checkpoint"], {"organisation": organisation, "run": run, **given})


async def tell(conn: Conn, organisation: UUID, run: UUID, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Note what happened, numbered, and call those who watch once it is committed."""
    given = {"organisation": organisation, "run": run}
    numbered = {"kinds": [kind for kind, _ in events], "datas": [written(data) for _, data in events]}
    await conn.execute(SQL["tell"], {**given, **numbered})
    await conn.execute(SQL["call_watchers"], given)


async def events(
    conn: Conn, organisation: UUID, run: UUID, since: int, limit: int, without: Sequence[str] = ()
) -> list[Event]:
    cur = conn.cursor(row_factory=class_row(Event))
    given = {"since": since, "limit": limit, "without": list(without)}
    await cur.execute(SQL["events"], {"organisation": organisation, "run": run, **given})
    return await cur.fetchall()


async def news(conn: Conn, organisation: UUID, since: Mapping[UUID, int], limit: int) -> list[Event]:
    cur = conn.cursor(row_factory=class_row(Event))
    given = {"organisation": organisation, "runs": list(since), "numbers": list(since.values()), "limit": limit}
    await cur.execute(SQL["news"], given)
    return await cur.fetchall()


async def live_ones(conn: Conn, organisation: UUID, known: Collection[UUID], limit: int) -> list[Run]:
    given = {"organisation": organisation, "runs": list(known), "limit": limit}
    rows = await (await conn.execute(SQL["live_ones"], given)).fetchall()
    return await several(conn, organisation, [row[0] for row in rows])


async def items(
    conn: Conn,
    organisation: UUID,
    run: UUID,
    status: ItemStatus | None,
    category: str | None,
    after: UUID | None,
    limit: int,
    *,
    newest_first: bool = False,
) -> list[Item]:
    cur = conn.cursor(row_factory=class_row(Item))
    given = {"status": str(status) if status else None, "category": category, "after": after, "limit": limit}
    statement = SQL["items_newest_first"] if newest_first else SQL["items"]
    await cur.execute(statement, {"organisation": organisation, "run": run, **given})
    return await cur.fetchall()


async def counts(conn: Conn, organisation: UUID) -> dict[Status, int]:
    rows = await (await conn.execute(SQL["counts"], {"organisation": organisation})).fetchall()
    return dict.fromkeys(Status, 0) | {Status(status): many for status, many in rows}


async def history(conn: Conn, organisation: UUID, hours: int, limit: int) -> History:
    given = {"organisation": organisation, "hours": hours, "limit": limit}
    lately = await (await conn.execute(SQL["lately"], given)).fetchall()
    found = await several(conn, organisation, [row[0] for row in lately])
    wanted = {"organisation": organisation, "runs": [run.id for run in found]}
    moved = moves(await (await conn.execute(SQL["moves"], wanted)).fetchall())
    window = await (await conn.execute(SQL["window"], {"hours": hours})).fetchone()
    assert window is not None  # noqa: S101 (a SELECT without FROM has a row)
    since, now = window
    return History(since, now, [Past(run, spans(moved.get(run.id, []))) for run in found])


async def ledger(conn: Conn, organisation: UUID, run: UUID, after: int, limit: int) -> list[Entry]:
    cur = conn.cursor(row_factory=class_row(Entry))
    await cur.execute(SQL["ledger"], {"organisation": organisation, "run": run, "after": after, "limit": limit})
    return await cur.fetchall()


async def spending(conn: Conn, organisation: UUID, days: int) -> list[SpentDay]:
    cur = conn.cursor(row_factory=class_row(SpentDay))
    await cur.execute(SQL["spent_days"], {"organisation": organisation, "days": days})
    return await cur.fetchall()


async def today(conn: Conn) -> date:
    row = await (await conn.execute(SQL["today"])).fetchone()
    assert row is not None  # noqa: S101 (a SELECT without FROM has a row)
    day: date = row[0]
    return day


async def summary(conn: Conn, organisation: UUID, run: Run) -> Summary:
    given = {"organisation": organisation, "run": run.id}
    rows = await (await conn.execute(SQL["per_category"], given)).fetchall()
    done = {row[0]: row[1:] for row in rows}
    categories = []
    for line in run.estimate:
        category = line["category"]
        is_dropped = category in run.dropped_categories
        is_known = is_dropped or category in run.enumerated_categories
        completed, failed, skipped, in_flight, cost = done.get(category, (0, 0, 0, 0, 0))
        categories.append(
            CategoryProgress(
                category,
                run.enumerated.known.get(category, 0) if is_known else line["items"],
                completed,
                failed,
                skipped,
                in_flight,
                line["cost_micros"],
                cost,
                is_dropped,
            )
        )
    failures = [Failure(*row) for row in await (await conn.execute(SQL["failures"], given)).fetchall()]
    rows = await (await conn.execute(SQL["spending"], {**given, "steps": _STEPS})).fetchall()
    return Summary(categories, failures, [Spent(*row) for row in rows])


async def put_off_jobs(conn: Conn, organisation: UUID, run: UUID, categories: Sequence[str] | None = None) -> list[str]:
    """Jobs that no worker has begun, of these categories or of all."""
    given = {"organisation": organisation, "run": run, "categories": None if categories is None else list(categories)}
    return [row[0] for row in await (await conn.execute(SQL["put_off_jobs"], given)).fetchall()]


async def books(db: Database, organisation: UUID) -> tuple[int, list[UUID]]:
    """How many runs there are, and those whose money or items do not add up."""
    async with db.transaction(organisation) as conn:
        wrong = await (await conn.execute(SQL["books"], {"organisation": organisation})).fetchall()
        there = await counts(conn, organisation)
    return sum(there.values()), [row[0] for row in wrong]
