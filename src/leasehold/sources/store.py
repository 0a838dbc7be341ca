"""Sources in PostgreSQL: rows in, dataclasses out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from leasehold.db import Conn, queries
from leasehold.ids import uuid7
from leasehold.sources.declared import Source
from leasehold.sources.machine import Mode, Move, Place, Status, Waiting, edge
from leasehold.sources.models import DeadLetter, Gone, Sighting, State

SQL = queries("leasehold.sources")


@dataclass(frozen=True, slots=True)
class Which:
    """One source of one organisation."""

    organisation: UUID
    name: str

    @property
    def given(self) -> dict[str, Any]:
        return {"organisation": self.organisation, "source_name": self.name}


@dataclass(frozen=True, slots=True)
class Driving:
    """Who drives it."""

    which: Which
    process: UUID
    fence: int

    @property
    def given(self) -> dict[str, Any]:
        return {**self.which.given, "driver": self.process, "fence": self.fence}


@dataclass(frozen=True, slots=True)
class More:
    """What a step adds to the counts of a sweep."""

    seen: int = 0
    pages: int = 0
    handed: int = 0
    gone: int = 0
    errors: int = 0

    @property
    def given(self) -> dict[str, Any]:
        names = ("seen", "pages", "handed", "gone", "errors")
        return {f"{name}_more": getattr(self, name) for name in names}


async def states(conn: Conn, organisation: UUID, name: str | None = None) -> dict[str, State]:
    cur = conn.cursor(row_factory=dict_row)
    await cur.execute(SQL["states"], {"organisation": organisation, "source_name": name})
    return {row["name"]: _state(row) for row in await cur.fetchall()}


def _state(row: Mapping[str, Any]) -> State:
    return State(
        **{
            **row,
            "status": Status(row["status"]),
            "waiting_for": Waiting(row["waiting_for"]) if row["waiting_for"] else None,
            "place": Place.of(row["place"]) if row["place"] else None,
        }
    )


async def start(conn: Conn, which: Which, new_place: Place | None) -> bool:
    """Begin a sweep, or go on with the one that is there; False when one is under way."""
    await conn.execute(SQL["settle"], which.given)
    given = {"new_place": _json(new_place), **edge(Move.START)}
    return bool((await conn.execute(SQL["start"], {**which.given, **given})).rowcount)


async def settle(conn: Conn, which: Which) -> None:
    await conn.execute(SQL["settle"], which.given)


async def stop(conn: Conn, which: Which) -> bool:
    return bool((await conn.execute(SQL["stop"], {**which.given, **edge(Move.STOP)})).rowcount)


async def live(conn: Conn, limit: int) -> list[Which]:
    rows = await (await conn.execute(SQL["live"], {"limit": limit})).fetchall()
    return [Which(organisation, name) for organisation, name in rows]


async def due(conn: Conn, declared: Sequence[Source], limit: int) -> list[tuple[Which, bool]]:
    """What is to be swept again by now, and whether all of it."""
    given = {
        "names": [source.name for source in declared],
        "sweep_hours": [source.sweep_every_hours for source in declared],
        "full_hours": [source.full_every_hours for source in declared],
    }
    rows = await (await conn.execute(SQL["due"], {**given, "limit": limit})).fetchall()
    return [(Which(organisation, name), is_full) for organisation, name, is_full in rows]


async def claim(conn: Conn, which: Which, process: UUID, lease_s: float) -> Driving | None:
    given = {**which.given, "driver": process, "lease_s": lease_s}
    row = await (await conn.execute(SQL["claim"], given)).fetchone()
    return Driving(which, process, row[0]) if row else None


async def hold(
    conn: Conn, driving: Driving, lease_s: float, rate: float, waiting: Waiting | None, errors: int = 0
) -> State | None:
    """The source, if it is still ours to drive. Nobody else changes it until this is committed."""
    given = {"lease_s": lease_s, "rate": rate, "waiting": str(waiting) if waiting else None, "errors_more": errors}
    if await (await conn.execute(SQL["hold"], {**driving.given, **given})).fetchone() is None:
        return None
    return (await states(conn, driving.which.organisation, driving.which.name))[driving.which.name]


async def let_go(conn: Conn, driving: Driving) -> None:
    await conn.execute(SQL["let_go"], driving.given)


async def move_on(conn: Conn, driving: Driving, place: Place, expected: int | None, more: More) -> bool:
    given = {**driving.given, "new_place": _json(place), "expected": expected, **more.given}
    return bool((await conn.execute(SQL["move_on"], given)).rowcount)


async def finish(conn: Conn, driving: Driving, place: Place, note: str | None) -> bool:
    facts = {"mode": str(place.mode), "passes": place.number}
    newest = datetime.fromisoformat(place.newest) if place.newest else None
    told = {"sweep_facts": Jsonb(facts), "is_full": place.mode is Mode.FULL}
    given = {**told, "newest": newest, "note": note, **edge(Move.FINISH)}
    return bool((await conn.execute(SQL["finish"], {**driving.given, **given})).rowcount)


async def fail(conn: Conn, driving: Driving, note: str) -> None:
    await conn.execute(SQL["fail"], {**driving.given, "note": note, **edge(Move.FAIL)})


async def known(conn: Conn, which: Which, ids: Sequence[str]) -> dict[str, Sighting]:
    cur = conn.cursor(row_factory=class_row(Sighting))
    await cur.execute(SQL["known"], {**which.given, "source_ids": list(ids)})
    return {one.source_id: one for one in await cur.fetchall()}


async def sight(conn: Conn, which: Which, place: Place, seen: Sequence[tuple[str, bytes]]) -> None:
    if seen:
        given = {"source_ids": [one for one, _ in seen], "marks": [digest for _, digest in seen]}
        await conn.execute(SQL["sight"], {**which.given, **_of_pass(place), **given})


async def lose(conn: Conn, which: Which, gone: Sequence[Gone]) -> list[Gone]:
    """Note what a source has no more; returns what we did not know yet."""
    if not gone:
        return []
    given = {
        "source_ids": [one.source_id for one in gone],
        "ends": ["merged" if one.merged_into else "deleted" for one in gone],
        "survivors": [one.merged_into for one in gone],
    }
    rows = await (await conn.execute(SQL["lose"], {**which.given, **given})).fetchall()
    return [Gone(source_id, merged_into) for source_id, merged_into in rows]


async def count_sightings(conn: Conn, which: Which, place: Place) -> tuple[int, int]:
    """How many of this sweep there are, and how many of them this pass did not show."""
    rows = await (await conn.execute(SQL["count_sightings"], {**which.given, **_of_pass(place)})).fetchall()
    live_ones, unseen_ones = rows[0]
    return live_ones, unseen_ones


async def unseen(conn: Conn, which: Which, place: Place, limit: int) -> list[str]:
    given = {**which.given, **_of_pass(place), "own": place.asks_own, "limit": limit}
    return [row[0] for row in await (await conn.execute(SQL["unseen"], given)).fetchall()]


async def bury(conn: Conn, which: Which, letters: Sequence[tuple[str | None, str, str]]) -> None:
    if letters:
        given = {
            "ids": [uuid7() for _ in letters],
            "source_ids": [source_id for source_id, _, _ in letters],
            "reasons": [reason for _, reason, _ in letters],
            "payloads": [payload for _, _, payload in letters],
            "marks": [_mark(letter) for letter in letters],
        }
        await conn.execute(SQL["bury"], {**which.given, **given})


async def letters(conn: Conn, which: Which, before: UUID | None, limit: int) -> list[DeadLetter]:
    cur = conn.cursor(row_factory=class_row(DeadLetter))
    await cur.execute(SQL["letters"], {**which.given, "before": before, "limit": limit})
    return await cur.fetchall()


async def forget(conn: Conn, organisation: UUID, source: str, ids: Sequence[str]) -> None:
    """Keep nothing of these: for whoever erases a person. A source that still has them shows them again."""
    given = {**Which(organisation, source).given, "source_ids": list(ids)}
    await conn.execute(SQL["forget_sightings"], given)
    await conn.execute(SQL["forget_letters"], given)


def _mark(letter: tuple[str | None, str, str]) -> bytes:
    return blake2b("\x00".join(part or "" for part in letter).encode(), digest_size=16).digest()


def _of_pass(place: Place) -> dict[str, Any]:
    return {"sweep": UUID(hex=place.sweep), "pass": place.number}


def _json(place: Place | None) -> Jsonb | None:
    return Jsonb(place.to_json()) if place else None
