"""A job that is on its way, changed by hand: more or less urgent, or not before a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from leasehold import audit
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import store
from leasehold.jobs.machine import Status
from leasehold.jobs.models import Job, Noted
from leasehold.jobs.problems import WrongState
from leasehold.problems import fault, invalid

LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Steer:
    """What is to be another; None stays as it is."""

    priority: int | None = None
    not_before: datetime | None = None

    def refuse(self, now: datetime) -> None:
        """Raises InvalidRequest for a time nobody means."""
        if self.not_before is not None and self.not_before > now + LONGEST:
            raise invalid(fault("body", "/not_before", f"It must be within {LONGEST.days} days from now."))


async def steer(conn: Conn, caller: Caller, job: Job, wish: Steer) -> None:
    """Change a job whose parts are kept from others, and note who did. Raises WrongState when there is nothing left."""
    live = {part.task.id: part.task for part in job.parts if not part.task.status.is_over}
    if not live:
        raise WrongState("This job is over.", status_now=str(job.status))
    if wish.not_before is not None and all(task.status is not Status.PENDING for task in live.values()):
        raise WrongState("No part of it waits: a worker has it. Cancel it instead.", status_now=str(job.status))
    if wish.not_before is not None and any(part.is_put_off for part in job.parts):
        raise WrongState("Its run is paused: resume that, and it goes on.", status_now=str(job.status))
    begins = await _change(conn, caller.organisation, job, list(live), wish)
    noted = Noted()
    for id_, task in live.items():
        if wish.priority is not None and wish.priority != job.priority:
            noted.add(task, "prioritised", by=caller.name, priority=wish.priority, before=job.priority)
        if wish.not_before is not None and task.status is Status.PENDING:
            noted.add(task, "put_off", by=caller.name, until=begins[id_].isoformat())
    await store.note(conn, caller.organisation, noted)
    if noted.events:
        await audit.record(conn, caller, "job.changed", job.id, _told(job, wish))


async def _change(conn: Conn, organisation: UUID, job: Job, tasks: list[UUID], wish: Steer) -> dict[UUID, datetime]:
    changed = {"organisation": organisation, "priority": wish.priority}
    cur = await conn.execute(store.SQL["steer"], {**changed, "tasks": tasks, "begin": wish.not_before})
    begins: dict[UUID, datetime] = dict(await cur.fetchall())
    await conn.execute(store.SQL["steer_job"], {**changed, "job": job.id})
    return begins


def _told(job: Job, wish: Steer) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if wish.priority is not None:
        told["priority"] = {"before": job.priority, "after": wish.priority}
    if wish.not_before is not None:
        told["not_before"] = wish.not_before.isoformat()
    return told
