"""What crawlers bring: each message is judged against its task, and all of it is booked in one transaction."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson
from pydantic import ValidationError

from leasehold import leases
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import machine, store
from leasehold.jobs.machine import Chunk, Judged, Task, Verdict
from leasehold.jobs.messages import CrawlerResult
from leasehold.jobs.models import Burial, Noted, Part, Receipt
from leasehold.leases import Ending, How, KeptLeases, Kind
from leasehold.platforms import Catalogue, Retry


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one message, for whoever sent it."""

    verdict: Verdict
    detail: str | None = None


@dataclass(slots=True)
class _Sheet:
    """What is to be written once everything is judged."""

    tasks: dict[UUID, Task]
    leases: dict[UUID, UUID | None]
    known: dict[tuple[UUID, bytes], bytes]
    receipts: list[Receipt] = field(default_factory=list)
    noted: Noted = field(default_factory=Noted)
    burials: list[Burial] = field(default_factory=list)
    changed: set[UUID] = field(default_factory=set)
    renewed: set[UUID] = field(default_factory=set)
    ended: dict[UUID, str] = field(default_factory=dict)  # leases, with what was said last
    told: dict[int, Told] = field(default_factory=dict)


class Results:
    """Takes results, whichever way they came."""

    def __init__(self, kept: KeptLeases, catalogue: Catalogue, max_age_s: int) -> None:
        self._kept = kept
        self._catalogue = catalogue
        self._max_age_s = max_age_s

    async def take(self, caller: Caller, items: Sequence[Any]) -> tuple[list[Told], list[str]]:
        """Durable when it returns: what became of each, and the platforms where something came free."""
        messages, told = _read(items)
        organisation = caller.organisation
        freed: list[str] = []
        if messages:

            async def book(conn: Conn) -> tuple[_Sheet, list[leases.Ended]]:
                sheet = await self._look(conn, organisation, messages)
                for place, message in messages.items():
                    sheet.told[place] = self._judge(sheet, message)
                return sheet, await self._write(conn, organisation, sheet)

            sheet, ended = await self._kept.steadily(organisation, book)
            self._kept.ended(organisation, ended)
            told |= sheet.told
            freed = sorted({sheet.tasks[task].platform for task in sheet.changed})
        return [told[place] for place in range(len(items))], freed

    async def _look(self, conn: Conn, organisation: UUID, messages: Mapping[int, CrawlerResult]) -> _Sheet:
        jobs = sorted({message.job_id for message in messages.values()})
        named = {(message.job_id, message.platform) for message in messages.values()}
        found = [
            part.task.id
            for part in await store.parts_of(conn, organisation, jobs)
            if (part.task.job, part.task.platform) in named
        ]
        await store.hold_tasks(conn, organisation, found)
        parts: dict[UUID, Part] = {part.task.id: part for part in await store.parts_of(conn, organisation, jobs)}
        tasks = {task: parts[task].task for task in found}
        if any(parts[task].lease and not parts[task].task.is_held for task in found):
            await self._kept.look(conn)  # nobody is found to be late by a clock that jumped
        by_name = {(task.job, task.platform): task.id for task in tasks.values()}
        pairs = {
            (by_name[name], key_of(message.cursor))
            for message in messages.values()
            if message.cursor is not None and (name := (message.job_id, message.platform)) in by_name
        }
        known = await store.known(conn, organisation, sorted(pairs))
        return _Sheet(tasks, {task: parts[task].lease for task in found}, known)

    def _judge(self, sheet: _Sheet, message: CrawlerResult) -> Told:
        task = next(
            (one for one in sheet.tasks.values() if (one.job, one.platform) == (message.job_id, message.platform)), None
        )
        if task is None:
            return Told(Verdict.INVALID, "There is no such job at this platform.")
        chunk = None
        if message.cursor is not None:
            key, digest = key_of(message.cursor), _digest(message.payload_chunk)
            chunk = Chunk(key, digest, sheet.known.get((task.id, key)))
        elif message.payload_chunk:
            return Told(Verdict.INVALID, "Documents come under a cursor.")
        judged = machine.judge(task, message, chunk, self._retry(task.platform), random.random())  # noqa: S311
        self._book(sheet, task, message, chunk, judged)
        return Told(judged.verdict, judged.detail)

    def _book(self, sheet: _Sheet, before: Task, message: CrawlerResult, chunk: Chunk | None, judged: Judged) -> None:
        after = judged.task
        lease = sheet.leases[before.id]
        if chunk is not None and judged.is_kept:
            sheet.known[before.id, chunk.key] = chunk.sha256
            sheet.receipts.append(_receipt(before.id, message, chunk, judged))
        if judged.is_dead == "conflict":
            sheet.burials.append(Burial("conflict", _json(message.model_dump(mode="json")), before, judged.detail))
        elif judged.is_dead:
            error = after.last_error or {}
            sheet.burials.append(Burial(judged.is_dead, "{}", after, error.get("message")))
        if after != before:
            sheet.changed.add(before.id)
            sheet.tasks[before.id] = after
            for event in judged.events:
                sheet.noted.add(before if event == "failed" else after, event, error=after.last_error)
        if lease is not None and judged.renews:
            sheet.renewed.add(lease)
        if lease is not None and judged.ends_lease:
            sheet.ended[lease] = message.status
            sheet.renewed.discard(lease)
            sheet.tasks[before.id] = replace(after, is_held=False)

    async def _write(self, conn: Conn, organisation: UUID, sheet: _Sheet) -> list[leases.Ended]:
        await store.receive(conn, organisation, sheet.receipts)
        changed = [sheet.tasks[task] for task in sorted(sheet.changed)]
        patience = {task.id: self._patience_s(task.platform) for task in changed}
        ended: list[leases.Ended] = []
        for status in sorted(set(sheet.ended.values())):
            these = [lease for lease, said in sheet.ended.items() if said == status]
            ended += await leases.end(conn, organisation, these, Ending(Kind.TASK, How.RELEASED, status))
        if sheet.renewed:
            await leases.renewed(
                await leases.renew(conn, organisation, dict.fromkeys(sorted(sheet.renewed)), self._max_age_s)
            )
        await store.settle(conn, organisation, changed, patience)
        await store.note(conn, organisation, sheet.noted)
        await store.bury_tasks(conn, organisation, sheet.burials)
        return ended

    def _retry(self, platform: str) -> Retry:
        found = self._catalogue.get(platform)
        return found.retry if found else Retry()

    def _patience_s(self, platform: str) -> int:
        found = self._catalogue.get(platform)
        return found.timeouts.lease_seconds if found else 60


def _read(items: Sequence[Any]) -> tuple[dict[int, CrawlerResult], dict[int, Told]]:
    messages: dict[int, CrawlerResult] = {}
    told: dict[int, Told] = {}
    for place, item in enumerate(items):
        try:
            messages[place] = CrawlerResult.model_validate(item)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = "/" + "/".join(str(step) for step in first["loc"])
            told[place] = Told(Verdict.INVALID, f"{where}: {first['msg']}")
    return messages, told


def key_of(cursor: Any) -> bytes:
    """A cursor of any length and shape as a short key."""
    return hashlib.blake2b(orjson.dumps(cursor, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _digest(chunk: Sequence[Mapping[str, Any]]) -> bytes:
    return hashlib.sha256(orjson.dumps(chunk, option=orjson.OPT_SORT_KEYS)).digest()


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _receipt(task: UUID, message: CrawlerResult, chunk: Chunk, judged: Judged) -> Receipt:
    return Receipt(
        task,
        chunk.key,
        _json(message.cursor),
        message.attempt,
        message.fence,
        chunk.sha256,
        _json(message.payload_chunk),
        judged.is_late,
    )
