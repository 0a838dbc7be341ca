"""Why a job does not run: which limit, who holds it, what goes before it, and when that should clear."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from leasehold.db import Conn
from leasehold.jobs import limits, overrides, store
from leasehold.jobs.machine import WRITING, Status
from leasehold.jobs.models import Part
from leasehold.jobs.standing import HoldsSome, Load, Override, Pause
from leasehold.jobs.store import SQL
from leasehold.platforms import Platform

_MOST_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class Saying:
    """One part of a job, explained."""

    platform: str
    status: str
    reason: str
    detail: str
    position: int | None
    in_flight: int
    limit: int | None
    next_at: datetime | None
    holders: Sequence[HoldsSome]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about where a part waits."""

    load: Load
    pause: Pause | None
    ahead: int
    holders: Sequence[HoldsSome]
    override: Override | None = None  # of the platform's limits


async def look(conn: Conn, organisation: UUID, part: Part, platform: Platform) -> Facts:
    load = (await limits.loads(conn, organisation, [platform]))[platform.slug]
    pause = (await store.pauses(conn, organisation)).get(platform.slug)
    ahead = await store.ahead(conn, organisation, part.task.id) if part.task.status is Status.PENDING else 0
    cur = conn.cursor(row_factory=class_row(HoldsSome))
    which = {"organisation": organisation, "platform": platform.slug, "limit": _MOST_HOLDERS}
    await cur.execute(SQL["holders"], which)
    changed = await overrides.in_force(conn, organisation, [platform.slug])
    return Facts(load, pause, ahead, await cur.fetchall(), changed.get(platform.slug))


def explain(part: Part, platform: Platform | None, facts: Facts | None, *, has_broker: bool = False) -> Saying:
    task = part.task
    load = facts.load if facts else None
    limit = load.limit if load else None

    def say(reason: str, detail: str, next_at: datetime | None = None) -> Saying:
        position = facts.ahead + 1 if facts and task.status is Status.PENDING else None
        in_hand, holders = load.in_hand if load else 0, facts.holders if facts else ()
        status = str(task.status)
        return Saying(task.platform, status, reason, detail, position, in_hand, limit, next_at, holders)

    if task.status.is_over:
        why = f": {task.sub_status}" if task.sub_status else ""
        return say("over", f"It is over: {task.status}{why}.")
    if task.status is not Status.PENDING:
        return _begun(part, say)
    if platform is None or facts is None or load is None or limit is None:
        return say("platform_unknown", f"There is no platform {task.platform} any more: put its file back.")
    if facts.pause is not None:
        why = f" ({facts.pause.reason})" if facts.pause.reason else ""
        return say("paused", f"{facts.pause.by_name} has paused {task.platform}{why}.")
    is_over_amqp = platform.transport == "amqp"
    if is_over_amqp and not has_broker:
        return say("no_broker", f"{task.platform} works over RabbitMQ: say in LEASEHOLD_AMQP_URL where that is.")
    if part.is_resting:
        return say("resting", f"Attempt {task.attempt} of {task.max_attempts} begins later.", part.not_before)
    if load.is_open:
        return say("breaker_open", f"Nearly everything fails at {task.platform}; one task is tried.", load.probe_at)
    if load.in_hand >= limit:
        first = min((one.until for one in facts.holders), default=None)
        told = f"{load.in_hand} tasks of {task.platform} are in hand, which is all it bears"
        return say("at_limit", told + _changed(facts.override, platform, "concurrency"), first)
    if load.rate_room == 0:
        told = f"{task.platform} begins as many tasks as its rate allows"
        return say("rate_limited", told + _changed(facts.override, platform, "rate"), load.rate_at)
    if load.room == 0:
        return say("shared", f"Other organisations wait for {task.platform} too, and yours has its share in hand.")
    if facts.ahead:
        return say("queued", f"{facts.ahead} go before it at {task.platform}.")
    if is_over_amqp:
        return say("no_dispatcher", f"It is the next at {task.platform}: no dispatcher has published it yet.")
    return say("no_worker", f"It is the next at {task.platform}: no worker has asked for it yet.")


def _changed(override: Override | None, platform: Platform, what: Literal["concurrency", "rate"]) -> str:
    """The end of a sentence about a limit: that it is not the one of the file, if it is not."""
    if override is None or getattr(override.wish, what) is None:
        return "."
    rate = platform.limits.rate
    if what == "concurrency":
        said = str(platform.limits.concurrency)
    else:
        said = f"{rate.tasks} in {rate.per_seconds:g} s" if rate else "no rate"
    return f" (its file says {said}; {override.text})."


def _begun(part: Part, say: Callable[[str, str], Saying]) -> Saying:
    task = part.task
    if task.sub_status == "incomplete":
        return say("incomplete", "Its worker has said how many results there are; some of them are missing.")
    if task.sub_status == WRITING:
        return say("writing", f"Its worker is done; the writer has {task.unwritten} chunks to confirm.")
    if part.is_published:
        return say("published", "RabbitMQ has it; no worker has said a word of it yet.")
    return say("running", f"A worker has it; this is attempt {task.attempt} of {task.max_attempts}.")
