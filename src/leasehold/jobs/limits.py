"""What a platform may begin now: slots, rates and breakers in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from leasehold import alerts, audit
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.ids import uuid7
from leasehold.jobs.standing import Load, OpenBreaker
from leasehold.jobs.store import SQL
from leasehold.leases import nobody
from leasehold.platforms import Catalogue, Platform


async def guard(conn: Conn, platforms: Sequence[str]) -> None:
    """Grants at these platforms go one after the other from here on."""
    await conn.execute(SQL["guard"], {"platforms": sorted(platforms)})


async def loads(
    conn: Conn, organisation: UUID, platforms: Sequence[Platform], *, as_given: bool = False
) -> dict[str, Load]:
    """What they have in hand and bear now. `as_given`: as if nobody had changed what they say of themselves."""
    rates = [one.limits.rate for one in platforms]
    given = {
        "as_given": as_given,
        "platforms": [one.slug for one in platforms],
        "concurrencies": [one.limits.concurrency for one in platforms],
        "aparts": [rate.apart_s if rate else None for rate in rates],
        "bursts": [rate.burst if rate else None for rate in rates],
    }
    cur = conn.cursor(row_factory=class_row(Load))
    await cur.execute(SQL["loads"], {"organisation": organisation, **given})
    return {load.platform: load for load in await cur.fetchall()}


async def begun(
    conn: Conn,
    organisation: UUID,
    platforms: Mapping[str, Platform],
    loads: Mapping[str, Load],
    tasks: Sequence[tuple[str, UUID]],
) -> None:
    """These tasks begin: they use up the rate, and where a breaker is open one of them is its probe."""
    many = {slug: sum(1 for one, _ in tasks if one == slug) for slug in sorted({slug for slug, _ in tasks})}
    rated = [slug for slug in many if loads[slug].apart_s is not None]
    if rated:
        given = {
            "platforms": rated,
            "aparts": [loads[slug].apart_s for slug in rated],
            "bursts": [loads[slug].burst for slug in rated],
            "manies": [many[slug] for slug in rated],
        }
        await conn.execute(SQL["rate_take"], given)
    for slug, task in tasks:
        if (probes := loads[slug].probes) is not None:
            probe_s = platforms[slug].breaker.probe_in_s(probes)
            which = {"platform": slug, "task": task, "probe_s": probe_s}
            await conn.execute(SQL["probe"], {"organisation": organisation, **which})


async def waiting(
    conn: Conn, organisation: UUID, platform: Platform, task_types: Sequence[str] | None, limit: int, *, is_canary: bool
) -> list[tuple[UUID, str, str, int, datetime, int]]:
    which = {
        "platform": platform.slug,
        "task_types": list(task_types) if task_types else None,
        "limit": limit,
        "is_canary": is_canary,
        "canary_s": platform.canary.patience_seconds,
    }
    return await (await conn.execute(SQL["waiting"], {"organisation": organisation, **which})).fetchall()


@dataclass(slots=True)
class Attempts:
    """What attempts at a platform came to: how many succeeded and failed, and the tasks of each."""

    succeeded: set[UUID] = field(default_factory=set)
    failed: set[UUID] = field(default_factory=set)


async def tally(conn: Conn, organisation: UUID, catalogue: Catalogue, tallies: Mapping[str, Attempts]) -> None:
    """Note what attempts came to, and open or close breakers by it."""
    if not tallies:
        return
    given = {
        "tally_ids": [uuid7() for _ in tallies],
        "platforms": list(tallies),
        "goods": [len(one.succeeded) for one in tallies.values()],
        "bads": [len(one.failed) for one in tallies.values()],
    }
    rows = await (await conn.execute(SQL["tally"], {"organisation": organisation, **given})).fetchall()
    for slug, is_open, probe in rows:
        platform = catalogue.get(slug)
        if is_open and probe in tallies[slug].succeeded:
            await close(conn, nobody(organisation), slug, "its probe succeeded")
        elif not is_open and tallies[slug].failed and platform is not None:
            await _trip_if_due(conn, organisation, platform)


async def _trip_if_due(conn: Conn, organisation: UUID, platform: Platform) -> None:
    breaker = platform.breaker
    which = {"organisation": organisation, "platform": platform.slug}
    good, bad = await recent(conn, organisation, platform)
    if good + bad < breaker.at_least or bad * 100 < breaker.percent * (good + bad):
        return
    reason = f"{bad} of {good + bad} attempts failed within {breaker.window_seconds} seconds"
    given = {**which, "reason": reason, "probe_s": breaker.probe_in_s(0)}
    if await (await conn.execute(SQL["trip"], given)).fetchone():
        await audit.record(conn, nobody(organisation), "platform.breaker_opened", platform.slug, {"reason": reason})
        await alerts.raise_(conn, organisation, alerts.BREAKER_OPENED, platform.slug, reason)


async def recent(conn: Conn, organisation: UUID, platform: Platform) -> tuple[int, int]:
    """How many attempts succeeded and failed within the window of a platform's breaker."""
    which = {"organisation": organisation, "platform": platform.slug, "window_s": platform.breaker.window_seconds}
    row = await (await conn.execute(SQL["tallied"], which)).fetchone()
    return row if row else (0, 0)


async def close(conn: Conn, caller: Caller, slug: str, reason: str) -> bool:
    """Close a breaker; False when it was closed."""
    given = {"organisation": caller.organisation, "platform": slug}
    if not await (await conn.execute(SQL["close_breaker"], given)).fetchone():
        return False
    await audit.record(conn, caller, "platform.breaker_closed", slug, {"reason": reason})
    await alerts.raise_(conn, caller.organisation, alerts.BREAKER_CLOSED, slug, reason)
    return True


async def breakers(conn: Conn, organisation: UUID) -> dict[str, OpenBreaker]:
    cur = conn.cursor(row_factory=class_row(OpenBreaker))
    await cur.execute(SQL["breakers"], {"organisation": organisation})
    return {one.platform: one for one in await cur.fetchall()}


async def forget(conn: Conn, organisation: UUID) -> None:
    await conn.execute(SQL["forget_tallies"], {"organisation": organisation})
