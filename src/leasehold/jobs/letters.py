"""Dead letters that are replayed, and replays, in PostgreSQL: rows in, dataclasses out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from leasehold.db import Conn
from leasehold.jobs.models import Letter, LetterCount, LetterFilter, NewReplay, Replay, Replayed, Skipped
from leasehold.jobs.store import SQL

_MOST_COUNTS = 500


@dataclass(frozen=True, slots=True)
class TakenUp:
    """A task that begins again: after how long, and how long it has from then on."""

    task: UUID
    rest_s: float
    deadline_s: int


async def counts(conn: Conn, organisation: UUID, platform: str | None) -> list[LetterCount]:
    cur = conn.cursor(row_factory=class_row(LetterCount))
    which = {"organisation": organisation, "platform": platform, "limit": _MOST_COUNTS}
    await cur.execute(SQL["letter_counts"], which)
    return await cur.fetchall()


async def count(conn: Conn, organisation: UUID, which: LetterFilter) -> tuple[int, datetime]:
    """How many are meant, and what time it is."""
    rows = await (await conn.execute(SQL["count_letters"], _which(organisation, which))).fetchall()
    matched, now = rows[0]
    return matched, now


async def hold(
    conn: Conn, organisation: UUID, which: LetterFilter, until: datetime, after: Letter | None, limit: int
) -> list[Letter]:
    """The next of them, kept from other replays until we are done."""
    cur = conn.cursor(row_factory=class_row(Letter))
    place = {"place": after.at if after else None, "place_id": after.id if after else None}
    await cur.execute(SQL["hold_letters"], {**_which(organisation, which), **place, "until": until, "limit": limit})
    return await cur.fetchall()


def _which(organisation: UUID, which: LetterFilter) -> dict[str, Any]:
    named = list(which.ids) if which.ids is not None else None
    return {"organisation": organisation, **asdict(which), "named": named}


async def open_replay(conn: Conn, organisation: UUID, new: NewReplay) -> None:
    row = {"by_name": new.by_name, "rate": new.rate_per_second, "matched": new.matched, "left_over": new.left_over}
    await conn.execute(SQL["open_replay"], {**_one(organisation, new.id), **row})


async def is_stopped(conn: Conn, organisation: UUID, replay: UUID) -> bool:
    """Whether somebody has stopped it; nobody can until we are done."""
    row = await (await conn.execute(SQL["hold_replay"], _one(organisation, replay))).fetchone()
    return row is None or bool(row[0])


async def note_batch(conn: Conn, organisation: UUID, replay: UUID, replayed: int, skipped: Sequence[Skipped]) -> None:
    told = Jsonb([asdict(one) for one in skipped])
    await conn.execute(SQL["count_replayed"], {**_one(organisation, replay), "more": replayed, "skipped": told})


async def end_replay(conn: Conn, organisation: UUID, replay: UUID) -> None:
    await conn.execute(SQL["end_replay"], _one(organisation, replay))


async def stop_replay(conn: Conn, organisation: UUID, replay: UUID) -> bool:
    return bool((await conn.execute(SQL["stop_replay"], _one(organisation, replay))).rowcount)


async def replays(
    conn: Conn, organisation: UUID, before: tuple[datetime, UUID] | None, limit: int, replay: UUID | None = None
) -> list[Replay]:
    cur = conn.cursor(row_factory=class_row(Replay))
    place = {"before": before[0] if before else None, "before_id": before[1] if before else None}
    which = {"organisation": organisation, "replay": replay, **place, "limit": limit}
    await cur.execute(SQL["replays"], which)
    return await cur.fetchall()


async def take_up(conn: Conn, organisation: UUID, replay: UUID, several: Sequence[TakenUp]) -> None:
    if several:
        given = {
            "tasks": [one.task for one in several],
            "rests": [one.rest_s for one in several],
            "deadlines": [one.deadline_s for one in several],
        }
        await conn.execute(SQL["take_up"], {**_one(organisation, replay), **given})


async def mark(conn: Conn, organisation: UUID, replay: UUID, several: Sequence[Replayed]) -> None:
    given = {"letters": [one.id for one in several], "jobs": [one.job for one in several]}
    await conn.execute(SQL["mark_replayed"], {**_one(organisation, replay), **given})


async def replayed(conn: Conn, organisation: UUID, replay: UUID) -> list[tuple[UUID, str | None, bool]]:
    """Letters of a replay, with their jobs, and whether a task was tried again or a request sent again."""
    return await (await conn.execute(SQL["replayed_letters"], _one(organisation, replay))).fetchall()


async def hold_unbegun(conn: Conn, organisation: UUID, replay: UUID, limit: int) -> list[UUID]:
    """Tasks of a replay that no worker has begun, kept from others together with its letters."""
    await conn.execute(SQL["hold_replayed"], _one(organisation, replay))
    cur = await conn.execute(SQL["hold_unbegun"], {**_one(organisation, replay), "limit": limit})
    return [row[0] for row in await cur.fetchall()]


async def reopen(conn: Conn, organisation: UUID, replay: UUID, tasks: Sequence[UUID]) -> Mapping[UUID, str]:
    """Take back that the letters of these tasks were replayed; says why each task was dead."""
    cur = await conn.execute(SQL["reopen_letters"], {**_one(organisation, replay), "tasks": list(tasks)})
    return dict(await cur.fetchall())


def _one(organisation: UUID, replay: UUID) -> dict[str, Any]:
    return {"organisation": organisation, "replay": replay}
