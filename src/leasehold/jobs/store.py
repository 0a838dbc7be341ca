"""Jobs and tasks in PostgreSQL: rows in, dataclasses out."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson
from psycopg import AsyncCursor
from psycopg.rows import class_row

from leasehold import alerts
from leasehold.db import Conn, queries
from leasehold.ids import uuid7
from leasehold.jobs.machine import Status, Task, together
from leasehold.jobs.models import (
    Books,
    Burial,
    DeadLetter,
    DeadLetterFilter,
    Event,
    Job,
    JobFilter,
    NewJob,
    Noted,
    Order,
    Part,
    Tally,
)
from leasehold.jobs.standing import Depth, Pause

SQL = queries("leasehold.jobs")
_MOST_EVENTS = 1000


def planned(conn: Conn, statement: LiteralString, given: Mapping[str, Any]) -> Awaitable[AsyncCursor[Any]]:
    """Run a statement that is planned anew each time.

    A plan that was kept from when the tables were small would go through all of them for a batch, until PostgreSQL has
    looked at them again.
    """
    return conn.execute(statement, given, prepare=False)


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


async def accept(conn: Conn, organisation: UUID, jobs: Sequence[NewJob]) -> set[str]:
    """Take requests in; the jobs of those that were not there already."""
    asked = [job.request for job in jobs]
    given = {
        "jobs": [job.id for job in jobs],
        "kinds": [one.task_type for one in asked],
        "several": [" ".join(one.platforms) for one in asked],
        "payloads": [_json(one.payload) for one in asked],
        "time_ranges": [_json(one.time_range) for one in asked],
        "priorities": [job.priority for job in jobs],
        "traces": [_json(one.trace_ctx) for one in asked],
        "metadatas": [_json(one.metadata) for one in asked],
        "runs": [one.run_id for one in asked],
        "mores": [_json(one.more) for one in asked],
        "deadlines": [job.deadline_s for job in jobs],
    }
    cur = await conn.execute(SQL["accept"], {"organisation": organisation, **given})
    return {row[0] for row in await cur.fetchall()}


async def add_tasks(conn: Conn, organisation: UUID, jobs: Sequence[NewJob]) -> None:
    tasks = [(job.id, task) for job in jobs for task in job.tasks]
    if not tasks:
        return
    given = {
        "tasks": [one.id for _, one in tasks],
        "jobs": [job for job, _ in tasks],
        "platforms": [one.platform for _, one in tasks],
        "attempts": [one.attempts for _, one in tasks],
        "canaries": [one.is_canary for _, one in tasks],
    }
    await planned(conn, SQL["add_tasks"], {"organisation": organisation, **given})


async def note(conn: Conn, organisation: UUID, noted: Noted) -> None:
    if not noted.events:
        return
    given = {
        "ids": [uuid7() for _ in noted.events],
        "tasks": [task.id for task, _, _ in noted.events],
        "events": [event for _, event, _ in noted.events],
        "attempts": [task.attempt for task, _, _ in noted.events],
        "fences": [task.fence for task, _, _ in noted.events],
        "details": [_json(detail) for _, _, detail in noted.events],
    }
    await conn.execute(SQL["note_many"], {"organisation": organisation, **given})


async def note_dispatched(conn: Conn, organisation: UUID, orders: Sequence[tuple[str, Order]]) -> None:
    """That workers were told to begin."""
    given = {
        "ids": [uuid7() for _ in orders],
        "tasks": [order.task for _, order in orders],
        "events": ["dispatched" for _ in orders],
        "attempts": [order.attempt for _, order in orders],
        "fences": [order.fence for _, order in orders],
        "details": [_json({"owner": owner}) for owner, _ in orders],
    }
    await conn.execute(SQL["note_many"], {"organisation": organisation, **given})


async def get(conn: Conn, organisation: UUID, jobs: Sequence[str], *, with_history: bool = False) -> dict[str, Job]:
    rows = await (await conn.execute(SQL["jobs"], {"organisation": organisation, "jobs": list(jobs)})).fetchall()
    parts: dict[str, list[Part]] = {}
    for part in await parts_of(conn, organisation, [row[0] for row in rows]):
        parts.setdefault(part.task.job, []).append(part)
    history: dict[UUID, list[Event]] = {}
    if with_history:
        cur = conn.cursor(row_factory=class_row(Event))
        tasks = [part.task.id for several in parts.values() for part in several]
        await cur.execute(SQL["history"], {"organisation": organisation, "tasks": tasks, "limit": _MOST_EVENTS})
        for event in await cur.fetchall():
            history.setdefault(event.task, []).append(event)
    found = {}
    for row in rows:
        mine = parts.get(row[0], [])
        past = sorted((event for part in mine for event in history.get(part.task.id, ())), key=lambda one: one.at)
        job = Job(*row)
        found[job.id] = replace(job, status=Status(job.status), parts=mine, history=past)
    return found


async def page(
    conn: Conn, organisation: UUID, which: JobFilter, before: tuple[datetime, str] | None, limit: int
) -> list[Job]:
    wanted = {
        "organisation": organisation,
        "statuses": [str(one) for one in which.statuses or Status],
        "platform": which.platform,
        "older_than_s": which.older_than_s,
        "within_s": which.within_s,
        "of_run": which.run,
        "error": which.error,
        "attempt_over": which.attempt_over,
        "before": before[0] if before else None,
        "before_id": before[1] if before else None,
        "limit": limit,
    }
    ids = [row[0] for row in await (await planned(conn, SQL["page"], wanted)).fetchall()]
    found = await get(conn, organisation, ids)
    return [found[id_] for id_ in ids]


async def parts_of(conn: Conn, organisation: UUID, jobs: Sequence[str]) -> list[Part]:
    if not jobs:
        return []
    rows = await (await planned(conn, SQL["tasks_of"], {"organisation": organisation, "jobs": list(jobs)})).fetchall()
    return [_part(row) for row in rows]


def _part(row: Sequence[Any]) -> Part:
    id_, job, platform, task_type, status, attempt, most, fence, sub_status, losses, is_held, cursor, seen = row[:13]
    final_seq, final_status, count, error, not_before, deadline_at, begun_at, ended_at, updated_at = row[13:22]
    lease, is_resting, unwritten, snoozes, cost_micros, created_at, *published = row[22:]
    task = Task(
        id_,
        job,
        platform,
        task_type,
        Status(status),
        attempt,
        most,
        fence,
        sub_status,
        losses,
        bool(is_held),
        cursor,
        frozenset(number for span in seen or () for number in range(span.lower, span.upper)),
        final_seq,
        final_status,
        count,
        error,
        unwritten,
        snoozes,
        cost_micros,
    )
    times = (created_at, not_before, deadline_at, begun_at, ended_at, updated_at)
    return Part(task, *times, lease, is_resting, *published)


async def hold_named(conn: Conn, organisation: UUID, names: Sequence[tuple[str, str]]) -> list[UUID]:
    """Tasks by their job and platform, kept from others from here on."""
    given = {"jobs": [job for job, _ in names], "named_platforms": [platform for _, platform in names]}
    rows = await (await planned(conn, SQL["hold_named"], {"organisation": organisation, **given})).fetchall()
    return [row[0] for row in rows]


async def hold_tasks(conn: Conn, organisation: UUID, tasks: Iterable[UUID]) -> None:
    await planned(conn, SQL["hold_tasks"], {"organisation": organisation, "tasks": sorted(tasks)})


async def is_cancelled(conn: Conn, organisation: UUID, task: UUID) -> bool:
    row = await (await conn.execute(SQL["is_cancelled"], {"organisation": organisation, "task": task})).fetchone()
    return bool(row and row[0])


async def jobs_of(conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> list[str]:
    cur = await planned(conn, SQL["jobs_of_tasks"], {"organisation": organisation, "tasks": list(tasks)})
    return [row[0] for row in await cur.fetchall()]


async def settle(conn: Conn, organisation: UUID, tasks: Sequence[Task], patience_s: Mapping[UUID, int]) -> Tally:
    """Write tasks as their lives go on, and what that makes of their jobs."""
    if not tasks:
        return Tally()
    given = {
        "tasks": [task.id for task in tasks],
        "statuses": [str(task.status) for task in tasks],
        "sub_statuses": [task.sub_status for task in tasks],
        "attempts": [task.attempt for task in tasks],
        "losses": [task.losses for task in tasks],
        "cursors": [_json(task.cursor) for task in tasks],
        "seens": [_ranges(task.seen) for task in tasks],
        "final_seqs": [task.final_seq for task in tasks],
        "final_statuses": [task.final_status for task in tasks],
        "result_counts": [task.result_count for task in tasks],
        "last_errors": [_json(task.last_error) for task in tasks],
        "holds": [task.is_held and (not task.status.is_over or task.status is Status.CANCELLED) for task in tasks],
        "over": [task.status.is_over for task in tasks],
        "rests": [task.rest_s for task in tasks],
        "patiences": [patience_s.get(task.id, 60) for task in tasks],
        "awaits": [task.awaits_messages for task in tasks],
        "snoozes": [task.snoozes for task in tasks],
        "costs": [task.cost_micros for task in tasks],
    }
    cur = await planned(conn, SQL["settle"], {"organisation": organisation, **given})
    outcomes = [row for row in await cur.fetchall() if row[1] is not None]
    over = await roll_up(conn, organisation, sorted({task.job for task in tasks}))
    return Tally(over, outcomes)


def _ranges(numbers: frozenset[int]) -> str:
    return "{" + ",".join(f"[{number},{number + 1})" for number in sorted(numbers)) + "}"


async def roll_up(conn: Conn, organisation: UUID, jobs: Sequence[str]) -> list[str]:
    """Leave each job as its parts stand together. Whoever changes a part comes by here, one after the other.

    Returns those that are over by this and that leases were taken for.
    """
    cur = await planned(conn, SQL["roll_up_alone"], {"organisation": organisation, "jobs": list(jobs)})
    told = await cur.fetchall()
    over = [job for job, is_alone in told if is_alone]
    jobs = [job for job, is_alone in told if not is_alone]
    if not jobs:
        return over
    await planned(conn, SQL["hold_jobs"], {"organisation": organisation, "jobs": jobs})
    parts: dict[str, list[Status]] = {}
    for part in await parts_of(conn, organisation, jobs):
        parts.setdefault(part.task.job, []).append(part.task.status)
    now = {job: together(statuses) for job, statuses in parts.items()}
    given = {"statuses": [str(one) for one in now.values()], "over": [one.is_over for one in now.values()]}
    cur = await planned(conn, SQL["roll_up"], {"organisation": organisation, "jobs": list(now), **given})
    return over + [job for job, leaves_leases in await cur.fetchall() if leaves_leases]


async def mark_leased(conn: Conn, organisation: UUID, job: str) -> Status | None:
    """Leases are taken for it, if it lives; how it stands. None when there is no such job."""
    which = {"organisation": organisation, "job": job}
    await conn.execute(SQL["mark_leased"], which)
    row = await (await conn.execute(SQL["status_of"], which)).fetchone()
    return Status(row[0]) if row else None


async def over_with_leases(conn: Conn, organisation: UUID, limit: int = 500) -> list[str]:
    cur = await conn.execute(SQL["over_with_leases"], {"organisation": organisation, "limit": limit})
    return [row[0] for row in await cur.fetchall()]


async def unmark_leased(conn: Conn, organisation: UUID, jobs: Sequence[str], patience_s: int) -> None:
    given = {"jobs": list(jobs), "patience_s": patience_s}
    await conn.execute(SQL["unmark_leased"], {"organisation": organisation, **given})


async def overdue(conn: Conn, organisation: UUID, limit: int = 200) -> list[tuple[UUID, UUID | None, bool | None]]:
    """Tasks that have to be looked at, kept from others: with their lease, and whether that ran out."""
    return await (await conn.execute(SQL["overdue"], {"organisation": organisation, "limit": limit})).fetchall()


async def defer(conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> None:
    if tasks:
        await conn.execute(SQL["defer"], {"organisation": organisation, "tasks": list(tasks)})


async def expired_jobs(conn: Conn, organisation: UUID, limit: int = 200) -> list[str]:
    rows = await (await conn.execute(SQL["expired_jobs"], {"organisation": organisation, "limit": limit})).fetchall()
    return [row[0] for row in rows]


async def guard(conn: Conn, platforms: Sequence[str]) -> None:
    await conn.execute(SQL["guard"], {"platforms": sorted(platforms)})


async def dispatch(conn: Conn, organisation: UUID, leases: Mapping[UUID, UUID]) -> list[tuple[str, float]]:
    """Tasks go out under their leases. The platform of each, and how long it had been due."""
    given = {"organisation": organisation, "tasks": list(leases), "leases": list(leases.values())}
    return await (await planned(conn, SQL["dispatch"], given)).fetchall()


async def orders(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> dict[UUID, Order]:
    """What crawlers are told, by lease."""
    rows = await (await planned(conn, SQL["orders"], {"organisation": organisation, "leases": list(leases)})).fetchall()
    return {row[1]: Order(*row) for row in rows}


async def look(
    conn: Conn, organisation: UUID, platforms: Sequence[str] | None
) -> tuple[int, int, int, datetime | None, float | None]:
    which = {"platforms": list(platforms) if platforms is not None else None}
    row = await (await conn.execute(SQL["look"], {"organisation": organisation, **which})).fetchone()
    return row if row else (0, 0, 0, None, None)


async def bury_tasks(conn: Conn, organisation: UUID, burials: Sequence[Burial]) -> None:
    """Keep what could not be done, with what its job asked for where nothing else is told; and tell the operator."""
    if not burials:
        return
    given: dict[str, list[Any]] = {
        "ids": [uuid7() for _ in burials],
        "platforms": [one.task.platform if one.task else one.platform for one in burials],
        "jobs": [one.task.job if one.task else one.job for one in burials],
        "tasks": [one.task.id if one.task else None for one in burials],
        "attempts": [one.task.attempt if one.task else None for one in burials],
        "reasons": [one.reason for one in burials],
        "details": [one.detail for one in burials],
        "payloads": [one.payload for one in burials],
    }
    await conn.execute(SQL["bury"], {"organisation": organisation, **given})
    matters: dict[tuple[str | None, str], list[str | None]] = {}
    for platform, reason, job in zip(given["platforms"], given["reasons"], given["jobs"], strict=True):
        matters.setdefault((platform, reason), []).append(job)
    for (platform, reason), jobs in matters.items():
        names = [job for job in jobs if job]
        await alerts.raise_(conn, organisation, alerts.DEAD_LETTERS, platform, reason, names, len(jobs))


async def dead_letters(
    conn: Conn, organisation: UUID, which: DeadLetterFilter, before: tuple[datetime, UUID] | None, limit: int
) -> list[DeadLetter]:
    cur = conn.cursor(row_factory=class_row(DeadLetter))
    place = {"before": before[0] if before else None, "before_key": before[1] if before else None}
    wanted = {"platform": which.platform, "reason": which.reason, "replayed": which.replayed}
    await cur.execute(SQL["dead_letters"], {"organisation": organisation, **wanted, **place, "limit": limit})
    return await cur.fetchall()


async def extend(conn: Conn, organisation: UUID, tasks: Sequence[UUID], deadline_s: int) -> None:
    given = {"tasks": list(tasks), "deadline_s": deadline_s}
    await conn.execute(SQL["extend"], {"organisation": organisation, **given})


async def books(conn: Conn, organisation: UUID) -> list[Books]:
    cur = conn.cursor(row_factory=class_row(Books))
    await cur.execute(SQL["books"], {"organisation": organisation})
    return await cur.fetchall()


async def depths(conn: Conn, organisation: UUID, platform: str | None) -> dict[str, Depth]:
    which = {"organisation": organisation, "platform": platform}
    rows = await (await conn.execute(SQL["depths"], which)).fetchall()
    rates: dict[str, float] = dict(await (await conn.execute(SQL["failure_rates"], which)).fetchall())
    found = {slug: Depth(depth, oldest_s, in_flight, rates.get(slug)) for slug, depth, oldest_s, in_flight in rows}
    return {slug: Depth(failure_rate=rate) for slug, rate in rates.items()} | found


async def stands(conn: Conn, organisation: UUID) -> list[tuple[str, str, int, int, float | None]]:
    """What is not over: platform, status, how many, how many in hand, and for how long the first has been due."""
    return await (await conn.execute(SQL["stands"], {"organisation": organisation})).fetchall()


async def pauses(conn: Conn, organisation: UUID) -> dict[str, Pause]:
    cur = conn.cursor(row_factory=class_row(Pause))
    await cur.execute(SQL["pauses"], {"organisation": organisation})
    return {pause.platform: pause for pause in await cur.fetchall()}


async def pause(conn: Conn, organisation: UUID, platform: str, by_name: str, reason: str | None) -> bool:
    given = {"platform": platform, "by_name": by_name, "reason": reason}
    return bool((await conn.execute(SQL["pause"], {"organisation": organisation, **given})).rowcount)


async def resume(conn: Conn, organisation: UUID, platform: str) -> bool:
    return bool((await conn.execute(SQL["resume"], {"organisation": organisation, "platform": platform})).rowcount)


async def ahead(conn: Conn, organisation: UUID, task: UUID) -> int:
    row = await (await conn.execute(SQL["ahead"], {"organisation": organisation, "task": task})).fetchone()
    return int(row[0]) if row else 0
