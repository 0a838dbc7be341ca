"""Limits of a platform changed for a while: its file stays as it is, and counts again when that is over."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from leasehold import audit
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import limits, store
from leasehold.jobs.standing import LimitsWish, Override
from leasehold.jobs.store import SQL
from leasehold.leases import nobody
from leasehold.platforms import Limits, Platform, Rate
from leasehold.problems import fault, invalid

LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Preview:
    """What other limits would do at once."""

    limits: Limits
    in_flight: int  # over all organisations
    waiting: int  # of ours, and could begin but for limits
    would_start: int
    over_by: int  # in hand, and more than the platform would bear


async def in_force(conn: Conn, organisation: UUID, platforms: Sequence[str]) -> dict[str, Override]:
    """Where limits differ from the files just now."""
    cur = await conn.execute(SQL["overrides"], {"organisation": organisation, "platforms": list(platforms)})
    return {row[0]: _override(*row) for row in await cur.fetchall()}


def _override(
    platform: str, concurrency: int | None, tasks: int | None, per_s: float | None, burst: int | None, *rest: Any
) -> Override:
    rate = Rate(tasks=tasks, per_seconds=per_s, burst=burst) if tasks and per_s and burst else None
    return Override(platform, LimitsWish(concurrency, rate), *rest)


async def may(conn: Conn, organisation: UUID, slug: str) -> bool:
    """Whether this organisation is called that."""
    row = await (await conn.execute(SQL["is_called"], {"organisation": organisation, "slug": slug})).fetchone()
    return bool(row and row[0])


async def set_(
    conn: Conn, caller: Caller, platform: Platform, wish: LimitsWish, reason: str, until: datetime | None
) -> None:
    """From the end of this transaction on every grant, in whichever process, goes by it."""
    await limits.guard(conn, [platform.slug])
    before = await _now(conn, caller.organisation, platform)
    rate = wish.rate
    given = {
        "platform": platform.slug,
        "concurrency": wish.concurrency,
        "rate_tasks": rate.tasks if rate else None,
        "rate_per_s": rate.per_seconds if rate else None,
        "rate_burst": rate.burst if rate else None,
        "by_name": caller.name,
        "reason": reason,
        "until": until,
    }
    await conn.execute(SQL["override"], {"organisation": caller.organisation, **given})
    told = {"before": _told(before), "after": _told(wish.over(platform.limits)), "reason": reason}
    detail = {**told, "until": until.isoformat() if until else None}
    await audit.record(conn, caller, "platform.limits_changed", platform.slug, detail)


async def restore(conn: Conn, caller: Caller, platform: Platform) -> None:
    """As its file says again; nothing happens where it is so."""
    await limits.guard(conn, [platform.slug])
    before = await _now(conn, caller.organisation, platform)
    which = {"organisation": caller.organisation, "platform": platform.slug}
    if await (await conn.execute(SQL["restore"], which)).fetchone():
        detail = {"before": _told(before), "after": _told(platform.limits)}
        await audit.record(conn, caller, "platform.limits_restored", platform.slug, detail)


async def end(conn: Conn, organisation: UUID) -> list[str]:
    """Note which came to their end by themselves; grants do not wait for that."""
    rows = await (await conn.execute(SQL["end_overrides"], {"organisation": organisation})).fetchall()
    for slug, reason in rows:
        await audit.record(conn, nobody(organisation), "platform.limits_ended", slug, {"reason": reason})
    return [slug for slug, _ in rows]


async def preview(conn: Conn, organisation: UUID, platform: Platform, wish: LimitsWish) -> Preview:
    """What these limits would do to what waits, if they counted now."""
    after = wish.over(platform.limits)
    changed = platform.model_copy(update={"limits": after})
    now = (await limits.loads(conn, organisation, [platform]))[platform.slug]
    then = (await limits.loads(conn, organisation, [changed], as_given=True))[platform.slug]
    ready = (await store.look(conn, organisation, [platform.slug]))[0]
    return Preview(
        after,
        in_flight=now.in_hand,
        waiting=ready,
        would_start=max(0, min(ready, then.room) - min(ready, now.room)),
        over_by=max(0, now.in_hand - after.concurrency),
    )


def refuse(until: datetime | None, now: datetime) -> None:
    """Raises InvalidRequest for an end nobody means."""
    if until is not None and not now < until <= now + LONGEST:
        raise invalid(fault("body", "/until", f"It must be to come, and within {LONGEST.days} days from now."))


async def _now(conn: Conn, organisation: UUID, platform: Platform) -> Limits:
    found = (await in_force(conn, organisation, [platform.slug])).get(platform.slug)
    return found.wish.over(platform.limits) if found else platform.limits


def _told(said: Limits) -> dict[str, Any]:
    return said.model_dump(mode="json")
