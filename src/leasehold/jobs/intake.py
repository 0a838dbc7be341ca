"""Requests taken in: where each goes, and many of them in a few statements."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import scalar_row

from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.ids import show, uuid7
from leasehold.jobs import store
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.messages import CrawlRequest
from leasehold.jobs.models import PREFIX, NewJob, NewTask, Noted
from leasehold.platforms import Catalogue, Platform
from leasehold.problems import InvalidRequest, fault, invalid

_PRIORITY = 4


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a request: its job, and whether that is a new one."""

    job: str
    is_new: bool
    platforms: Sequence[str]


def to_recall(taken: Mapping[int, Taken]) -> str:
    """What became of the places of a batch, to be kept under its key. A job's name has neither a space nor a plus."""
    return " ".join(f"{place}{'+' if one.is_new else '-'}{one.job}" for place, one in taken.items())


def recalled(text: str) -> dict[int, Taken]:
    found = (re.fullmatch(r"(\d+)([+-])(.+)", word) for word in text.split(" "))
    return {int(one[1]): Taken(one[3], one[2] == "+", ()) for one in found if one}


def platforms_for(request: CrawlRequest, catalogue: Catalogue) -> list[Platform]:
    """Where a request goes; raises InvalidRequest when it can go nowhere."""
    platforms: list[Platform] = []
    for slug in request.platforms:
        platform = catalogue.get(slug)
        if platform is None:
            raise invalid(fault("body", "/platform", "There is no such platform: GET /v2/platforms lists them."))
        kind = platform.task_types.get(request.task_type)
        if kind is None:
            known = ", ".join(platform.task_types)
            raise invalid(fault("body", "/task_type", f"The platform {slug} has no such type, only {known}."))
        if faults := kind.faults(request.payload):
            raise invalid(*(fault("body", f"/payload{where}", why) for where, why in faults[:10]))
        platforms.append(platform)
    return platforms


async def known(conn: Conn, organisation: UUID, names: Sequence[str]) -> set[str]:
    """Which of these jobs there are."""
    if not names:
        return set()
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(store.SQL["known_jobs"], {"organisation": organisation, "jobs": list(names)})
    return set(await cur.fetchall())


async def take_in(conn: Conn, caller: Caller, requests: Sequence[CrawlRequest], catalogue: Catalogue) -> list[Taken]:
    """The jobs of requests, in their order. The first request of a name stands, here as everywhere, also when the
    platform would not take this one by now.

    `Jobs.call` those who wait for work at the platforms of new ones, once this is committed.
    """
    new: dict[str, NewJob] = {}
    asked: list[tuple[str, Sequence[str]]] = []
    for request in requests:
        try:
            job = _new(request, platforms_for(request, catalogue))
        except InvalidRequest:
            if request.job_id is None or not await known(conn, caller.organisation, [request.job_id]):
                raise
            asked.append((request.job_id, request.platforms))
            continue
        asked.append((job.id, request.platforms))
        new.setdefault(job.id, job)
    accepted = await store.accept(conn, caller.organisation, list(new.values()))
    fresh = [job for job in new.values() if job.id in accepted]
    await store.add_tasks(conn, caller.organisation, fresh)
    noted = Noted()
    for job in fresh:
        for task in job.tasks:
            noted.add(_task(job, task), "accepted", by=caller.name)
    await store.note(conn, caller.organisation, noted)
    told: list[Taken] = []
    for name, platforms in asked:
        told.append(Taken(name, name in accepted, platforms))
        accepted.discard(name)
    return told


def _new(request: CrawlRequest, platforms: Sequence[Platform]) -> NewJob:
    ids = [uuid7() for _ in platforms]
    job = request.job_id or show(PREFIX, ids[0])
    tasks = [
        NewTask(id_, one.slug, request.max_attempts or one.retry.attempts, one.is_canary(job))
        for one, id_ in zip(platforms, ids, strict=True)
    ]
    deadline_s = request.deadline_seconds or max(one.timeouts.deadline_seconds for one in platforms)
    return NewJob(job, request, _priority(request, platforms), deadline_s, tasks)


def _task(job: NewJob, task: NewTask) -> Task:
    return Task(task.id, job.id, task.platform, job.request.task_type, Status.PENDING, 1, task.attempts, 0)


def _priority(request: CrawlRequest, platforms: Sequence[Platform]) -> int:
    if request.priority is not None:
        return request.priority
    return max((one.task_types[request.task_type].priority for one in platforms), default=_PRIORITY)
