"""What crawlers bring: each message is judged against its task, and all of it is booked in one transaction."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson
from pydantic import ValidationError

from leasehold import leases
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import limits, machine, receipts, store
from leasehold.jobs.aftermath import UNKNOWN, Aftermath
from leasehold.jobs.limits import Attempts
from leasehold.jobs.machine import Chunk, Judged, Task, Verdict
from leasehold.jobs.messages import CrawlerResult
from leasehold.jobs.models import Burial, Noted, Part, Receipt, Tally
from leasehold.jobs.pipeline import Prepared, prepare
from leasehold.jobs.routes import Route, route
from leasehold.jobs.versions import upgraded
from leasehold.leases import Ending, How, KeptLeases, Kind
from leasehold.platforms import Catalogue, Phase, Retry
from leasehold.writers import Chunk as Written
from leasehold.writers import Name, write_in

_NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one message, for whoever sent it."""

    verdict: Verdict
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """A message as it was understood, with its documents ready for the writer."""

    message: CrawlerResult
    chunk: Prepared | None

    @property
    def whose(self) -> tuple[str, str]:
        return self.message.job_id, self.message.platform


@dataclass(slots=True)
class _Sheet:
    """What is to be written once everything is judged."""

    tasks: dict[UUID, Task]
    by_name: Mapping[tuple[str, str], UUID]
    leases: dict[UUID, UUID | None]
    known: dict[Name, bytes]
    seen: set[tuple[UUID, bytes]]
    phases: Mapping[str, Phase]
    parts: Mapping[UUID, Part]
    tallies: dict[str, Attempts] = field(default_factory=dict)
    found: list[tuple[UUID, bytes]] = field(default_factory=list)  # documents never seen before
    receipts: list[Receipt] = field(default_factory=list)
    noted: Noted = field(default_factory=Noted)
    burials: list[Burial] = field(default_factory=list)
    changed: set[UUID] = field(default_factory=set)
    renewed: set[UUID] = field(default_factory=set)
    ended: dict[UUID, str] = field(default_factory=dict)  # leases, with what was said last
    told: dict[int, Told] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)


class Results:
    """Takes results, whichever way they came."""

    def __init__(self, kept: KeptLeases, catalogue: Catalogue, aftermath: Aftermath, max_age_s: int) -> None:
        self._kept = kept
        self._aftermath = aftermath
        self._catalogue = catalogue
        self._max_age_s = max_age_s

    async def take(self, caller: Caller, items: Sequence[Any]) -> tuple[list[Told], list[str]]:
        """Durable when it returns: what became of each, and the platforms where something came free."""
        messages, told = self._read(items)
        organisation = caller.organisation
        freed: list[str] = []
        tally = Tally()
        if messages:

            async def book(conn: Conn) -> tuple[_Sheet, list[leases.Ended]]:
                sheet = await self._look(conn, organisation, list(messages.values()))
                for place, message in messages.items():
                    sheet.told[place] = self._judge(sheet, message)
                return sheet, await self._write(conn, organisation, sheet)

            sheet, ended = await self._kept.steadily(organisation, book)
            self._kept.ended(organisation, ended)
            told |= sheet.told
            freed = sorted({sheet.tasks[task].platform for task in sheet.changed})
            tally = sheet.tally
        for place, one in told.items():
            platform = messages[place].message.platform if place in messages else UNKNOWN
            tally.verdicts[platform, one.verdict] += 1
            if one.verdict is Verdict.ACCEPTED and (took_s := messages[place].message.took_s) is not None:
                tally.took.append((platform, took_s))
        await self._aftermath.tell(organisation, tally)
        return [told[place] for place in range(len(items))], freed

    def _read(self, items: Sequence[Any]) -> tuple[dict[int, _Read], dict[int, Told]]:
        messages: dict[int, _Read] = {}
        told: dict[int, Told] = {}
        for place, item in enumerate(items):
            try:
                message = CrawlerResult.model_validate(upgraded(item))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False, include_context=False)[0]
                where = "/" + "/".join(str(step) for step in first["loc"])
                told[place] = Told(Verdict.INVALID, f"{where}: {first['msg']}")
                continue
            has_cursor = message.cursor is not None
            chunk = prepare(message, self._catalogue.get(message.platform)) if has_cursor else None
            messages[place] = _Read(message, chunk)
        return messages, told

    async def _look(self, conn: Conn, organisation: UUID, messages: Sequence[_Read]) -> _Sheet:
        jobs = sorted({one.message.job_id for one in messages})
        found = await store.hold_named(conn, organisation, sorted({one.whose for one in messages}))
        parts: dict[UUID, Part] = {part.task.id: part for part in await store.parts_of(conn, organisation, jobs)}
        tasks = {task: parts[task].task for task in found}
        if any(parts[task].lease and not parts[task].task.is_held for task in found):
            await self._kept.look(conn)  # nobody is found to be late by a clock that jumped
        by_name = {(task.job, task.platform): task.id for task in tasks.values()}
        brought = [(by_name[one.whose], one.chunk) for one in messages if one.chunk and one.whose in by_name]
        known = await receipts.known(conn, organisation, sorted({(task, chunk.key) for task, chunk in brought}))
        identities = {(task, identity) for task, chunk in brought for identity in chunk.identities if identity}
        seen = await receipts.seen(conn, organisation, sorted(identities))
        phases = await self._phases(conn, organisation, tasks.values())
        return _Sheet(tasks, by_name, {task: parts[task].lease for task in found}, known, seen, phases, parts)

    async def _phases(self, conn: Conn, organisation: UUID, tasks: Iterable[Task]) -> Mapping[str, Phase]:
        """How far the moves of these tasks' platforms have come; most have none under way."""
        platforms = [self._catalogue.get(task.platform) for task in tasks]
        if any(platform and platform.writer.shadow for platform in platforms):
            return await receipts.phases(conn, organisation)
        return {}

    def _judge(self, sheet: _Sheet, read: _Read) -> Told:
        message = read.message
        task = sheet.tasks.get(sheet.by_name.get(read.whose, _NOBODY))
        if task is None:
            return Told(Verdict.INVALID, "There is no such job at this platform.")
        if read.chunk is None and message.payload_chunk:
            return Told(Verdict.INVALID, "Documents come under a cursor.")
        way = route(self._catalogue.get(task.platform), sheet.phases.get(task.platform))
        chunk, new = None, None
        if read.chunk is not None:
            seen = {identity for whose, identity in sheet.seen if whose == task.id} if read.chunk.identities else ()
            new = read.chunk.new(seen)
            first = sheet.known.get((task.id, new.key))
            chunk = Chunk(new.key, new.sha256, first, len(new.documents), not way.is_inline)
        judged = machine.judge(task, message, chunk, self._retry(task.platform), random.random())  # noqa: S311
        if new is not None and judged.is_kept:
            self._keep(sheet, task, message, new, way, judged)
        judged = self._charged(sheet, task, message, chunk, judged)
        self._book(sheet, task, message, judged)
        return Told(judged.verdict, judged.detail or _refusals(new if judged.is_kept else None))

    def _keep(
        self, sheet: _Sheet, task: Task, message: CrawlerResult, chunk: Prepared, way: Route, judged: Judged
    ) -> None:
        sheet.known[task.id, chunk.key] = chunk.sha256
        identities = [(task.id, identity) for identity in chunk.identities if identity]
        sheet.seen.update(identities)
        sheet.found += identities
        sheet.receipts.append(_receipt(task, message, chunk, way, judged))
        for refused in chunk.refused:
            letter = {"cursor": message.cursor, "document": refused.document}
            sheet.burials.append(Burial("invalid_document", _json(letter), task, refused.why))

    def _charged(
        self, sheet: _Sheet, task: Task, message: CrawlerResult, chunk: Chunk | None, judged: Judged
    ) -> Judged:
        """What it cost counts whoever brought it, and once: by its own account, or by the platform's price."""
        is_new = judged.verdict is Verdict.ACCEPTED
        if not (is_new or judged.is_kept):
            return judged
        cost = message.metrics.cost_micros if message.metrics else None
        platform = self._catalogue.get(task.platform)
        if cost is None and platform is not None and platform.prices:
            price = platform.price(task.task_type, sheet.parts[task.id].created_at.date())
            if price is not None and price.per == "document":
                cost = price.micros * (chunk.documents if chunk and judged.is_kept else 0)
            elif price is not None and message.final and is_new:
                cost = price.micros
        if not cost:
            return judged
        return replace(judged, task=replace(judged.task, cost_micros=judged.task.cost_micros + cost))

    def _book(self, sheet: _Sheet, before: Task, message: CrawlerResult, judged: Judged) -> None:
        after = judged.task
        lease = sheet.leases[before.id]
        if judged.is_dead == "conflict":
            sheet.burials.append(Burial("conflict", _json(message.model_dump(mode="json")), before, judged.detail))
        elif judged.is_dead:
            error = after.last_error or {}
            sheet.burials.append(Burial(judged.is_dead, "{}", after, error.get("message")))
        if after != before:
            sheet.changed.add(before.id)
            sheet.tasks[before.id] = after
            for event in judged.events:
                told = {"error": after.last_error, "cost_micros": after.cost_micros}  # so far, over all attempts
                sheet.noted.add(before if event == "failed" else after, event, **told)
        if judged.ends_lease and not before.status.is_over:
            tally = sheet.tallies.setdefault(before.platform, Attempts())
            tally.succeeded.update({before.id} if message.status != "failed" else ())
            tally.failed.update({before.id} if judged.is_fault else ())
        if lease is not None and judged.renews:
            sheet.renewed.add(lease)
        if lease is not None and judged.ends_lease:
            sheet.ended[lease] = message.status
            sheet.renewed.discard(lease)
            sheet.changed.add(before.id)
            sheet.tasks[before.id] = replace(after, is_held=False)

    async def _write(self, conn: Conn, organisation: UUID, sheet: _Sheet) -> list[leases.Ended]:
        numbers = await receipts.receive(conn, organisation, sheet.receipts)
        await receipts.see(conn, organisation, sheet.found)
        at_once = [one for one in sheet.receipts if one.is_written]
        for space in sorted({one.space for one in at_once}):
            chunks = [_written(one, numbers) for one in at_once if one.space is space]
            await write_in(conn, organisation, space, chunks)
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
        sheet.tally = await store.settle(conn, organisation, changed, patience)
        sheet.tally.buried = sheet.burials
        sheet.tally.lags = [(one.platform, 0.0) for one in at_once]
        await store.note(conn, organisation, sheet.noted)
        await store.bury_tasks(conn, organisation, sheet.burials)
        await limits.tally(conn, organisation, self._catalogue, sheet.tallies)
        return ended

    def _retry(self, platform: str) -> Retry:
        found = self._catalogue.get(platform)
        return found.retry if found else Retry()

    def _patience_s(self, platform: str) -> int:
        found = self._catalogue.get(platform)
        return found.timeouts.lease_seconds if found else 60


def _refusals(chunk: Prepared | None) -> str | None:
    if chunk is None or not chunk.refused:
        return None
    return f"{len(chunk.refused)} of its documents went to the dead letters: {chunk.refused[0].why}"


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _receipt(task: Task, message: CrawlerResult, chunk: Prepared, way: Route, judged: Judged) -> Receipt:
    return Receipt(
        task=task.id,
        platform=task.platform,
        job=task.job,
        key=chunk.key,
        cursor=_json(message.cursor),
        attempt=message.attempt,
        fence=message.fence,
        sha256=chunk.sha256,
        documents=chunk.documents,
        late=judged.is_late,
        is_written=way.is_inline,
        space=way.space,
        shadow_due=way.shadow is not None,
    )


def _written(receipt: Receipt, numbers: Mapping[Name, int]) -> Written:
    number = numbers[receipt.task, receipt.key]
    return Written(receipt.task, receipt.job, receipt.platform, receipt.key, number, receipt.attempt, receipt.documents)
