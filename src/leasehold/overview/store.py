"""How everything stands, in PostgreSQL: each question costs what is going on, never what there ever was."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from leasehold.db import Conn, queries
from leasehold.overview.models import Backlog, Flow, Moment, Spend, Strip

SQL = queries("leasehold.overview")

STEPS = 60
_STRIP_STEPS = 12
# What the statuses of jobs that are over count as.
_KINDS = {"timed_out": "failed", "partial": "failed"}


async def now(conn: Conn) -> datetime:
    at: datetime = (await (await conn.execute(SQL["now"])).fetchall())[0][0]
    return at


async def flow(conn: Conn, organisation: UUID, at: datetime, hours: int, backlogs: Sequence[Backlog]) -> Flow:
    """How jobs came and went in the last hours, in as many steps as a chart can show."""
    which = {"organisation": organisation}
    step_s = hours * 3600 // STEPS
    since = at - timedelta(hours=hours)
    moved = await (await conn.execute(SQL["flow"], {**which, "since": since, "step_s": step_s})).fetchall()
    ((live, pending),) = await (await conn.execute(SQL["live"], which)).fetchall()
    ((accepted, ended, ended_lately, failed_lately),) = await (await conn.execute(SQL["lately"], which)).fetchall()
    return Flow(
        accepted_per_minute=accepted / 5,
        ended_per_minute=ended / 5,
        ended=ended_lately,
        failed=failed_lately,
        live=live,
        pending=pending,
        worst=next((one for one in backlogs if one.oldest_s is not None), None),
        step_s=step_s,
        moments=_moments(moved, since, step_s, live),
        strips=await _strips(conn, organisation, at),
    )


def _moments(moved: Sequence[tuple[Any, ...]], since: datetime, step_s: int, live: int) -> list[Moment]:
    """Backwards from what is live now: what came in was not there before, what ended still was."""
    counts: dict[int, dict[str, int]] = {}
    for step, what, number in moved:
        kind, there = _KINDS.get(what, what), counts.setdefault(min(step, STEPS - 1), {})
        there[kind] = there.get(kind, 0) + number
    found: list[Moment] = []
    for step in reversed(range(STEPS)):
        moment = Moment(since + timedelta(seconds=step * step_s), live=live, **counts.get(step, {}))
        found.append(moment)
        live = max(0, live - moment.accepted + moment.ended)
    return found[::-1]


async def _strips(conn: Conn, organisation: UUID, at: datetime) -> list[Strip]:
    rows = await (await conn.execute(SQL["strips"], {"organisation": organisation, "now": at})).fetchall()
    strips: dict[str, tuple[list[int], list[int]]] = {}
    for platform, step, succeeded, failed in sorted(rows):
        good, bad = strips.setdefault(platform, ([0] * _STRIP_STEPS, [0] * _STRIP_STEPS))
        place = min(step, _STRIP_STEPS - 1)
        good[place] += succeeded
        bad[place] += failed
    return [Strip(platform, good, bad) for platform, (good, bad) in strips.items()]


async def backlogs(conn: Conn, organisation: UUID, patience_s: int) -> list[tuple[Backlog, datetime | None, bool]]:
    """What waits where, the longest wait first; since when something could have begun, and whether nobody is there."""
    given = {"organisation": organisation, "patience_s": patience_s}
    rows = await (await conn.execute(SQL["backlogs"], given)).fetchall()
    return [
        (Backlog(platform, pending, oldest_s, in_flight), due_at, bool(is_deserted))
        for platform, pending, oldest_s, in_flight, due_at, is_deserted in rows
    ]


async def spend(conn: Conn, organisation: UUID) -> Spend:
    cur = conn.cursor(row_factory=class_row(Spend))
    await cur.execute(SQL["spend"], {"organisation": organisation})
    (found,) = await cur.fetchall()
    return found


async def leases(conn: Conn, organisation: UUID) -> dict[str, int]:
    return dict(await (await conn.execute(SQL["leases"], {"organisation": organisation})).fetchall())
