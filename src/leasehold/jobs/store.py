"""Jobs and tasks in PostgreSQL: rows in, dataclasses out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from leasehold.db import Conn, queries
from leasehold.ids import uuid7
from leasehold.jobs.machine import Status, Task, together
from leasehold.jobs.messages import CrawlRequest
from leasehold.jobs.models import (
    Books,
    Burial,
    DeadLetter,
    Depth,
    Event,
    Job,
    JobFilter,
    Load,
    Noted,
    Order,
    Part,
    Pause,
    Receipt,
)

SQL = queries("leasehold.jobs")
_MOST_EVENTS = 1000


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


async def accept(
    conn: Conn, organisation: UUID, job: str, request: CrawlRequest, priority: int, deadline_s: int
) -> bool:
    """Take a request in; False when the job is there already."""
    row = {
        "organisation": organisation,
        "job": job,
        "task_type": request.task_type,
        "platforms": request.platforms,
        "payload": Jsonb(request.payload),
        "time_range": _json(request.time_range),
        "priority": priority,
        "trace_ctx": _json(request.trace_ctx),
        "metadata": _json(request.metadata),
        "run_id": request.run_id,
        "more": Jsonb(request.more),
        "deadline_s": deadline_s,
    }
    return await (await conn.execute(SQL["accept"], row)).fetchone() is not None


async def add_tasks(
    conn: Conn, organisation: UUID, job: str, tasks: Mapping[str, UUID], attempts: Sequence[int]
) -> None:
    given = {"tasks": list(tasks.values()), "platforms": list(tasks), "attempts": list(attempts)}
    await conn.execute(SQL["add_tasks"], {"organisation": organisation, "job": job, **given})


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
        "status": which.status,
        "platform": which.platform,
        "before": before[0] if before else None,
        "before_id": before[1] if before else None,
        "limit": limit,
    }
    ids = [row[0] for row in await (await conn.execute(SQL["page"], wanted)).fetchall()]
    found = await get(conn, organisation, ids)
    return [found[id_] for id_ in ids]


async def parts_of(conn: Conn, organisation: UUID, jobs: Sequence[str]) -> list[Part]:
    if not jobs:
        return []
    rows = await (await conn.execute(SQL["tasks_of"], {"organisation": organisation, "jobs": list(jobs)})).fetchall()
    return [_part(row) for row in rows]


def _part(row: Sequence[Any]) -> Part:
    id_, job, platform, task_type, status, attempt, most, fence, sub_status, losses, is_held, cursor, seen = row[:13]
    final_seq, final_status, count, error, not_before, deadline_at, begun_at, ended_at, updated_at, *rest = row[13:]
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
        frozenset(number for span in seen for number in range(span.lower, span.upper)),
        final_seq,
        final_status,
        count,
        error,
    )
    return Part(task, not_before, deadline_at, begun_at, ended_at, updated_at, *rest)


async def hold_tasks(conn: Conn, organisation: UUID, tasks: Iterable[UUID]) -> None:
    await conn.execute(SQL["hold_tasks"], {"organisation": organisation, "tasks": sorted(tasks)})


async def jobs_of(conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> list[str]:
    cur = await conn.execute(SQL["jobs_of_tasks"], {"organisation": organisation, "tasks": list(tasks)})
    return [row[0] for row in await cur.fetchall()]


async def known(conn: Conn, organisation: UUID, pairs: Sequence[tuple[UUID, bytes]]) -> dict[tuple[UUID, bytes], bytes]:
    """What came under these cursors before, by its digest."""
    if not pairs:
        return {}
    given = {"tasks": [task for task, _ in pairs], "marks": [key for _, key in pairs]}
    rows = await (await conn.execute(SQL["known"], {"organisation": organisation, **given})).fetchall()
    return {(task, key): sha256 for task, key, sha256 in rows}


async def receive(conn: Conn, organisation: UUID, receipts: Sequence[Receipt]) -> None:
    if not receipts:
        return
    given = {
        "tasks": [one.task for one in receipts],
        "marks": [one.key for one in receipts],
        "cursors": [one.cursor for one in receipts],
        "attempts": [one.attempt for one in receipts],
        "fences": [one.fence for one in receipts],
        "digests": [one.sha256 for one in receipts],
        "chunks": [one.chunk for one in receipts],
        "lates": [one.late for one in receipts],
    }
    await conn.execute(SQL["receive"], {"organisation": organisation, **given})


async def results(
    conn: Conn, organisation: UUID, tasks: Sequence[UUID], after: tuple[int, int] | None, limit: int
) -> list[tuple[str, int, int, Any]]:
    wanted = {"tasks": list(tasks), "after": after[0] if after else None, "after_place": after[1] if after else None}
    cur = await conn.execute(SQL["results"], {"organisation": organisation, **wanted, "limit": limit})
    return await cur.fetchall()


async def settle(conn: Conn, organisation: UUID, tasks: Sequence[Task], patience_s: Mapping[UUID, int]) -> None:
    """Write tasks as their lives go on, and what that makes of their jobs."""
    if not tasks:
        return
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
        "holds": [task.is_held and not task.status.is_over for task in tasks],
        "over": [task.status.is_over for task in tasks],
        "rests": [task.rest_s for task in tasks],
        "patiences": [patience_s.get(task.id, 60) for task in tasks],
    }
    await conn.execute(SQL["settle"], {"organisation": organisation, **given})
    await roll_up(conn, organisation, sorted({task.job for task in tasks}))


def _ranges(numbers: frozenset[int]) -> str:
    return "{" + ",".join(f"[{number},{number + 1})" for number in sorted(numbers)) + "}"


async def roll_up(conn: Conn, organisation: UUID, jobs: Sequence[str]) -> None:
    """Leave each job as its parts stand together. Whoever changes a part comes by here, one after the other."""
    await conn.execute(SQL["hold_jobs"], {"organisation": organisation, "jobs": list(jobs)})
    parts: dict[str, list[Status]] = {}
    for part in await parts_of(conn, organisation, jobs):
        parts.setdefault(part.task.job, []).append(part.task.status)
    now = {job: together(statuses) for job, statuses in parts.items()}
    given = {"statuses": [str(one) for one in now.values()], "over": [one.is_over for one in now.values()]}
    await conn.execute(SQL["roll_up"], {"organisation": organisation, "jobs": list(now), **given})


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


async def loads(conn: Conn, organisation: UUID, platforms: Sequence[str]) -> dict[str, Load]:
    cur = conn.cursor(row_factory=class_row(Load))
    await cur.execute(SQL["loads"], {"organisation": organisation, "platforms": list(platforms)})
    return {load.platform: load for load in await cur.fetchall()}


async def waiting(
    conn: Conn, organisation: UUID, platform: str, task_types: Sequence[str] | None, limit: int
) -> list[tuple[UUID, str, str, int, datetime]]:
    which = {"platform": platform, "task_types": list(task_types) if task_types else None, "limit": limit}
    return await (await conn.execute(SQL["waiting"], {"organisation": organisation, **which})).fetchall()


async def raise_fences(conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> dict[UUID, int]:
    cur = await conn.execute(SQL["raise_fences"], {"organisation": organisation, "tasks": list(tasks)})
    return dict(await cur.fetchall())


async def dispatch(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> None:
    await conn.execute(SQL["dispatch"], {"organisation": organisation, "leases": list(leases)})


async def orders(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> dict[UUID, Order]:
    """What crawlers are told, by lease."""
    rows = await (await conn.execute(SQL["orders"], {"organisation": organisation, "leases": list(leases)})).fetchall()
    return {row[1]: Order(*row) for row in rows}


async def look(
    conn: Conn, organisation: UUID, platforms: Sequence[str] | None
) -> tuple[int, int, int, datetime | None, float | None]:
    which = {"platforms": list(platforms) if platforms is not None else None}
    row = await (await conn.execute(SQL["look"], {"organisation": organisation, **which})).fetchone()
    return row if row else (0, 0, 0, None, None)


async def bury_tasks(conn: Conn, organisation: UUID, burials: Sequence[Burial]) -> None:
    """Keep what could not be done: with what its job asked for, where nothing else is told."""
    if not burials:
        return
    given = {
        "ids": [uuid7() for _ in burials],
        "platforms": [one.task.platform if one.task else None for one in burials],
        "jobs": [one.task.job if one.task else None for one in burials],
        "tasks": [one.task.id if one.task else None for one in burials],
        "attempts": [one.task.attempt if one.task else None for one in burials],
        "reasons": [one.reason for one in burials],
        "details": [one.detail for one in burials],
        "payloads": [one.payload for one in burials],
    }
    await conn.execute(SQL["bury"], {"organisation": organisation, **given})


async def dead_letters(
    conn: Conn,
    organisation: UUID,
    platform: str | None,
    reason: str | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> list[DeadLetter]:
    cur = conn.cursor(row_factory=class_row(DeadLetter))
    place = {"before": before[0] if before else None, "before_key": before[1] if before else None}
    which = {"organisation": organisation, "platform": platform, "reason": reason}
    await cur.execute(SQL["dead_letters"], {**which, **place, "limit": limit})
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
