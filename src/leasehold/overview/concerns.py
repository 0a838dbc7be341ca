"""What needs somebody, found in PostgreSQL and said in a sentence each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.db import Conn
from leasehold.ids import show
from leasehold.overview.models import Backlog, Concern, Matter, Weight
from leasehold.overview.store import SQL
from leasehold.runs import RUN

# How long something may wait before it needs somebody.
WORKERS_PATIENCE_S = 120
SEEDS_PATIENCE_S = 900
# Of each matter; who has more than that has other worries than a list.
MOST = 50
_COUNTED = 1000
_PAUSES = {
    "budget": "Its budget is used up: raise the cap, or leave it.",
    "provider_down": "Its provider does not answer; it goes on by itself.",
    "failures": "Too many of its items failed.",
}


async def of_jobs(
    conn: Conn, organisation: UUID, backlogs: Sequence[tuple[Backlog, datetime | None, bool]]
) -> list[Concern]:
    which = {"organisation": organisation}
    breakers = await (await conn.execute(SQL["breakers"], which)).fetchall()
    pauses = await (await conn.execute(SQL["platform_pauses"], which)).fetchall()
    letters = await (await conn.execute(SQL["letters"], which)).fetchall()
    return [
        *(_platform(Matter.BREAKER_OPEN, Weight.BAD, slug, at, f"{reason}.") for slug, at, reason in breakers),
        *(_deserted(backlog, due_at) for backlog, due_at, is_deserted in backlogs if is_deserted),
        *(
            _platform(Matter.PLATFORM_PAUSED, Weight.WARN, slug, at, f"By {by}{f': {reason}' if reason else ''}.")
            for slug, at, by, reason in pauses
        ),
        *(_letters(*row) for row in letters),
    ]


def _platform(matter: Matter, weight: Weight, slug: str, since: datetime, detail: str) -> Concern:
    return Concern(matter, weight, slug, slug, None, since, detail)


def _deserted(backlog: Backlog, due_at: datetime | None) -> Concern:
    waits = f"{_some(backlog.pending, 'task')} could begin, and no worker takes any. Start one for {backlog.platform}."
    return Concern(Matter.NO_WORKERS, Weight.BAD, backlog.platform, backlog.platform, backlog.pending, due_at, waits)


def _letters(platform: str | None, number: int, first_at: datetime, still_open: int) -> Concern:
    detail = f"{number} more within the last hour; {still_open} wait to be tried again."
    return Concern(
        Matter.DEAD_LETTERS, Weight.WARN, platform or "", platform or "no platform", number, first_at, detail
    )


async def of_runs(conn: Conn, organisation: UUID) -> list[Concern]:
    rows = await (await conn.execute(SQL["runs_in_need"], {"organisation": organisation, "limit": MOST})).fetchall()
    return [_run(*row) for row in rows]


def _run(
    id_: UUID, name: str, reason: str | None, detail: str | None, paused_at: datetime | None, *money: int
) -> Concern:
    spent, reserved, cap = money
    if reason is not None and reason != "operator":
        said = detail or _PAUSES.get(reason, reason)
        return Concern(Matter.RUN_STOPPED, Weight.BAD, show(RUN, id_), name, None, paused_at, said)
    percent = 100 * (spent + reserved) // cap if cap else 100
    said = f"{percent} % of its cap is spent or reserved. At the cap it pauses."
    return Concern(Matter.BUDGET, Weight.WARN, show(RUN, id_), name, percent, None, said)


async def of_sites(conn: Conn, organisation: UUID) -> list[Concern]:
    rows = await (await conn.execute(SQL["paused_sites"], {"organisation": organisation, "limit": MOST})).fetchall()
    return [
        Concern(Matter.SITE_PAUSED, Weight.WARN, slug, name, None, at, reason or "Nobody said why.")
        for slug, name, at, reason in rows
    ]


async def of_seeds(conn: Conn, organisation: UUID) -> list[Concern]:
    given = {"organisation": organisation, "patience_s": SEEDS_PATIENCE_S, "most_seeds": _COUNTED, "limit": MOST}
    rows = await (await conn.execute(SQL["overdue_seeds"], given)).fetchall()
    return [_overdue(*row) for row in rows]


def _overdue(slug: str, name: str, number: int, first_at: datetime) -> Concern:
    most = "at least " if number >= _COUNTED else ""
    said = f"{most}{_some(number, 'seed')} should have been visited more than {SEEDS_PATIENCE_S // 60} minutes ago."
    return Concern(Matter.SEEDS_OVERDUE, Weight.WARN, slug, name, number, first_at, said[0].upper() + said[1:])


async def of_sources(conn: Conn, organisation: UUID) -> list[Concern]:
    rows = await (await conn.execute(SQL["failed_sources"], {"organisation": organisation})).fetchall()
    return [_source(*row) for row in rows]


def _source(name: str, status: str, error: str | None, at: datetime | None) -> Concern:
    said = error or "Its sweep failed." if status == "failed" else "Its sweep is under way, but nobody drives it."
    return Concern(Matter.SOURCE_FAILED, Weight.BAD, name, name, None, at, said)


def of_accounts(pools: dict[str, dict[str, int]]) -> list[Concern]:
    return [_blocked(site, counts) for site, counts in sorted(pools.items()) if counts.get("blocked")]


def _blocked(site: str, counts: dict[str, Any]) -> Concern:
    number, total = counts["blocked"], sum(counts.values())
    weight = Weight.BAD if number == total else Weight.WARN
    said = f"{number} of {_some(total, 'account')} {'is' if number == 1 else 'are'} blocked."
    return Concern(Matter.ACCOUNTS_BLOCKED, weight, site, site, number, None, said)


def _some(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
