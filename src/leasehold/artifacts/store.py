"""Artefacts in PostgreSQL: whose turn it is, what was published, and one look over every organisation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import class_row

from leasehold.artifacts.models import (
    Accounts,
    Captures,
    Figures,
    Graph,
    Hour,
    Jobs,
    Leases,
    Platforms,
    Published,
    Runs,
    Seeds,
    Sources,
    Trouble,
)
from leasehold.db import Conn, queries

SQL = queries("leasehold.artifacts")

# Everything is counted at one moment, and nothing can be changed by counting.
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_HOURS = 24
# A run that people or its budget paused is as it should be; one of these is not.
_STOPS = ("provider_down", "failures")


@dataclass(frozen=True, slots=True)
class Turn:
    """Who publishes, and which edition."""

    process: UUID
    edition: int


async def settle_in(conn: Conn) -> None:
    await conn.execute(SQL["settle_in"])


async def claim(conn: Conn, process: UUID, lease_s: int, interval_s: int, *, at_once: bool) -> Turn | None:
    """The turn, if it is anybody's and nobody has it."""
    given = {"process": process, "lease_s": lease_s, "interval_s": interval_s, "at_once": at_once}
    row = await (await conn.execute(SQL["claim"], given)).fetchone()
    return Turn(process, row[0]) if row else None


async def renew(conn: Conn, turn: Turn, lease_s: int) -> bool:
    given = {"process": turn.process, "edition": turn.edition, "lease_s": lease_s}
    return await (await conn.execute(SQL["renew"], given)).fetchone() is not None


async def finish(conn: Conn, turn: Turn, error: str | None) -> None:
    await conn.execute(SQL["finish"], {"process": turn.process, "edition": turn.edition, "error": error})


async def keep(conn: Conn, turn: Turn, at: datetime, published: Sequence[Published]) -> None:
    columns = {
        "names": [one.name for one in published],
        "versions": [one.version for one in published],
        "paths": [one.path for one in published],
        "sizes": [one.bytes for one in published],
        "etags": [one.etag for one in published],
    }
    await conn.execute(SQL["keep"], {"edition": turn.edition, "published_at": at, **columns})


async def published(conn: Conn) -> list[Published]:
    cur = conn.cursor(row_factory=class_row(Published))
    await cur.execute(SQL["published"])
    return await cur.fetchall()


async def trouble(conn: Conn) -> Trouble:
    row = await (await conn.execute(SQL["trouble"])).fetchone()
    return Trouble(*row) if row else Trouble(None, None)


async def last(conn: Conn) -> float:
    """When artefacts were last published, in seconds since 1970; 0 when they never were."""
    return float((await _row(conn, SQL["last"]))[0])


async def read(conn: Conn) -> Figures:
    """All there is to publish, at one moment. Called first thing in a transaction."""
    await conn.execute(_SNAPSHOT)
    at, hour = await _row(conn, SQL["moment"])
    accounts, seeds = await _counts(conn, SQL["accounts"]), await _counts(conn, SQL["seeds"])
    leases = await _counts(conn, SQL["leases"])
    return Figures(
        at=at,
        accounts=read_accounts(accounts),
        seeds=Seeds(**{state: seeds.get(state, 0) for state in ("resting", "due", "overdue", "held", "off")}),
        leases=Leases(**{kind: leases.get(kind, 0) for kind in ("account", "seed", "capture", "task")}),
        jobs=await _jobs(conn, hour),
        captures=Captures(*await _row(conn, SQL["captures"])),
        runs=await _runs(conn),
        spent_today_micros=(await _row(conn, SQL["spend"]))[0],
        graph=Graph(*await _row(conn, SQL["graph"])),
        sources=await _sources(conn),
        platforms=Platforms(*await _row(conn, SQL["platforms"])),
    )


def read_accounts(by_state: Mapping[str, int]) -> Accounts:
    """States as operators of the pool call them, in the words of the page."""
    return Accounts(
        free=by_state.get("active", 0),
        held=by_state.get("using", 0),
        cooling=by_state.get("cooling", 0),
        blocked=by_state.get("blocked", 0),
        inactive=by_state.get("inactive", 0),
    )


async def _jobs(conn: Conn, this_hour: datetime) -> Jobs:
    live = await _counts(conn, SQL["live_jobs"])
    ended: dict[tuple[datetime, str], int] = {}
    lately: dict[str, int] = {}
    for hour, status, number, late in await _rows(conn, SQL["ends"]):
        ended[hour, status] = number
        lately[status] = lately.get(status, 0) + late
    failed, completed = _failed(lately), lately.get("completed", 0)
    arrived = await _counts(conn, SQL["arrivals"])
    hours = [this_hour - timedelta(hours=back) for back in reversed(range(_HOURS))]
    return Jobs(
        waiting=live.get("pending", 0),
        running=live.get("dispatched", 0) + live.get("processing", 0),
        oldest_waiting_seconds=(await _row(conn, SQL["oldest"]))[0],
        ended_last_hour=completed + failed,
        failed_last_hour=failed,
        failure_rate=failed / (completed + failed) if completed + failed else None,
        dead_letters_last_day=(await _row(conn, SQL["dead_letters"]))[0],
        hours=[
            Hour(
                start=hour,
                arrived=arrived.get(hour, 0),
                completed=ended.get((hour, "completed"), 0),
                failed=_failed({status: number for (of, status), number in ended.items() if of == hour}),
                cancelled=ended.get((hour, "cancelled"), 0),
            )
            for hour in hours
        ],
    )


def _failed(by_status: Mapping[str, int]) -> int:
    return sum(by_status.get(status, 0) for status in ("failed", "timed_out", "partial"))


async def _runs(conn: Conn) -> Runs:
    found = {"running": 0, "waiting": 0, "paused": 0, "stopped": 0}
    for state, reason, number in await _rows(conn, SQL["runs"]):
        found["stopped" if reason in _STOPS else state if state in found else "waiting"] += number
    return Runs(**found)


async def _sources(conn: Conn) -> Sources:
    known, sweeping, failed, fresh = await _row(conn, SQL["sources"])
    return Sources(known, fresh, sweeping, failed)


async def _rows(conn: Conn, statement: LiteralString) -> list[tuple[Any, ...]]:
    return await (await conn.execute(statement)).fetchall()


async def _row(conn: Conn, statement: LiteralString) -> tuple[Any, ...]:
    (row,) = await _rows(conn, statement)
    return row


async def _counts(conn: Conn, statement: LiteralString) -> dict[Any, int]:
    return dict(await _rows(conn, statement))
