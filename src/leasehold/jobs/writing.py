"""The one writer of results: what was accepted and is not written yet goes where its platform says, and is booked.

It works from receipts alone, so whatever dies on the way, the next one goes on from there. What the target was given
and nobody booked is given to it again: that changes nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import orjson

from leasehold import logs
from leasehold.db import Conn, Database
from leasehold.jobs import machine, receipts, store
from leasehold.jobs.aftermath import Aftermath
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.models import Burial, Noted, Part, Tally
from leasehold.jobs.routes import Route, route
from leasehold.leases import Ended, KeptLeases
from leasehold.platforms import Catalogue, Phase
from leasehold.problems import Unavailable
from leasehold.writers import Found, Name, Place, Refusals, Space, Stream, Target

log = logs.get(__name__)

EVERY_S = 0.2
_BATCH = 200
# What went into the stream and was not confirmed for so long is looked for, and goes into it again if it is not there.
_STREAM_PATIENCE_S = 60
# A transaction stays open around it, and PostgreSQL ends those that idle for longer.
_WRITE_S = 6.0
_SETTING = {"mongo": "LEASEHOLD_MONGO_URL"}


@dataclass(frozen=True, slots=True)
class Writers:
    """What there is to write to: targets by name, and the stream if there is one."""

    targets: Mapping[str, Target]
    stream: Stream | None = None

    def target(self, name: str) -> Target:
        found = self.targets.get(name)
        if found is None:
            raise Unavailable(f"A platform's results go to {name}: set {_SETTING[name]}.")
        return found

    async def open(self) -> None:
        for target in self.targets.values():
            await target.open()
        if self.stream is not None:
            await self.stream.open()

    async def close(self) -> None:
        for target in self.targets.values():
            await target.close()
        if self.stream is not None:
            await self.stream.close()


class Writing:
    """Writes results, confirms them, and reads them again."""

    def __init__(
        self, db: Database, catalogue: Catalogue, writers: Writers, aftermath: Aftermath, kept: KeptLeases
    ) -> None:
        self._db = db
        self._kept = kept
        self._aftermath = aftermath
        self._catalogue = catalogue
        self.writers = writers

    async def step(self, organisations: Iterable[UUID]) -> None:
        """Write what waits, everywhere. Where one target is down the others are written all the same."""
        troubles: list[Exception] = []
        for organisation in organisations:
            async with self._db.transaction(organisation) as conn:
                waiting = await receipts.with_unwritten(conn, organisation, self._catalogue.platforms)
            for platform, unwritten, unshadowed in waiting:
                try:
                    while unwritten and await self._write(organisation, platform) == _BATCH:
                        pass
                    while unshadowed and await self._shadow(organisation, platform) == _BATCH:
                        pass
                except (Unavailable, TimeoutError) as error:
                    troubles.append(error)
        if troubles:
            raise troubles[0]

    async def confirm(self, organisation: UUID, names: Sequence[Name], refused: Refusals) -> None:
        """A target has these; what it will never take goes to the dead letters."""
        book = partial(self._book, organisation=organisation, names=names, refused=refused)
        await self._tell(organisation, await self._kept.steadily(organisation, book))

    async def read(
        self, organisation: UUID, parts: Sequence[Part], after: tuple[int, int] | None, limit: int
    ) -> list[Found]:
        """What a job brought, in the order it came, wherever it is."""
        phases = await self.phases(organisation)
        by_place: dict[tuple[str, Space], list[Place]] = {}
        for part in parts:
            way = self.route(part.task.platform, phases)
            place = Place(part.task.id, part.task.job, part.task.platform)
            by_place.setdefault((way.target, way.space), []).append(place)
        found: list[Found] = []
        for (target, space), places in by_place.items():
            found += await self.writers.target(target).read(organisation, space, places, after, limit)
        return sorted(found, key=lambda one: (one.number, one.place))[:limit]

    async def documents(self, organisation: UUID, places: Sequence[Place]) -> dict[UUID, list[dict[str, Any]]]:
        """All that tasks brought, by task, wherever it is."""
        phases = await self.phases(organisation)
        by_way: dict[tuple[str, Space], list[Place]] = {}
        for place in places:
            way = self.route(place.platform, phases)
            by_way.setdefault((way.target, way.space), []).append(place)
        found: dict[UUID, list[dict[str, Any]]] = {}
        for (target, space), some in by_way.items():
            found |= await self.writers.target(target).documents(organisation, space, some)
        return found

    async def phases(self, organisation: UUID) -> Mapping[str, Phase]:
        async with self._db.transaction(organisation) as conn:
            return await receipts.phases(conn, organisation)

    def route(self, platform: str, phases: Mapping[str, Phase]) -> Route:
        return route(self._catalogue.get(platform), phases.get(platform))

    async def _write(self, organisation: UUID, platform: str) -> int:
        """One batch of a platform; how many it were."""
        work = partial(self._batch, organisation=organisation, platform=platform)
        many, tally = await self._kept.steadily(organisation, work)
        await self._tell(organisation, tally)
        return many

    async def _batch(self, conn: Conn, organisation: UUID, platform: str) -> tuple[int, Tally]:
        if not await receipts.is_our_turn(conn, organisation, platform):
            return 0, Tally()
        way = self.route(platform, await receipts.phases(conn, organisation))
        if way.phase is Phase.STREAM:
            return await self._pass_on(conn, organisation, platform, way), Tally()
        chunks = await receipts.unwritten(conn, organisation, platform, _STREAM_PATIENCE_S, _BATCH)
        if not chunks:
            return 0, Tally()
        async with asyncio.timeout(_WRITE_S):
            refused = await self.writers.target(way.target).write(organisation, way.space, chunks)
            tally = await self._book(conn, organisation, [chunk.name for chunk in chunks], refused)
        return len(chunks), tally

    async def _tell(self, organisation: UUID, tally: Tally) -> None:
        self._kept.ended(organisation, tally.ended)
        await self._aftermath.tell(organisation, tally)

    async def _pass_on(self, conn: Conn, organisation: UUID, platform: str, way: Route) -> int:
        """One batch into the stream, as far as there is room in it; how many it were."""
        stream = self.writers.stream
        if stream is None:
            raise Unavailable("A platform's results go into the stream: set LEASEHOLD_REDIS_URL.")
        async with asyncio.timeout(_WRITE_S):
            room = min(_BATCH, await stream.room())
            chunks = await receipts.unwritten(conn, organisation, platform, _STREAM_PATIENCE_S, room) if room else []
            if chunks:
                await receipts.streamed(conn, organisation, await stream.put(organisation, way.target, chunks))
        return len(chunks)

    async def _shadow(self, organisation: UUID, platform: str) -> int:
        """The same for the shadow. Whatever happens to it is nobody's trouble but its own."""
        async with self._db.transaction(organisation) as conn:
            if not await receipts.is_our_turn(conn, organisation, platform):
                return 0
            way = self.route(platform, await receipts.phases(conn, organisation))
            chunks = await receipts.unshadowed(conn, organisation, platform, _BATCH)
            if not chunks:
                return 0
            if way.shadows_at is not None:
                async with asyncio.timeout(_WRITE_S):
                    refused = await self.writers.target(way.shadows_at).write(organisation, Space.SHADOW, chunks)
                for why in refused.values():
                    log.warning("shadow.refused", platform=platform, why=why)
            await receipts.shadowed(conn, organisation, [chunk.name for chunk in chunks])
        return len(chunks)

    async def _book(self, conn: Conn, organisation: UUID, names: Sequence[Name], refused: Refusals) -> Tally:
        tasks = sorted({task for task, _ in names})
        await store.hold_tasks(conn, organisation, tasks)
        jobs = await store.jobs_of(conn, organisation, tasks)
        parts = {part.task.id: part for part in await store.parts_of(conn, organisation, jobs)}
        letters = await receipts.chunks_of(conn, organisation, list(refused)) if refused else {}
        confirmed = await receipts.confirm(conn, organisation, names)
        taken = Counter(task for task, key in confirmed if (task, key) not in refused)
        never = Counter(task for task, key in confirmed if (task, key) in refused)
        noted, changed = Noted(), []
        for task in sorted({task for task, _ in confirmed}):
            before = parts[task].task
            after = machine.written(before, taken[task])
            if never[task]:
                after = machine.unwritable(after, never[task])
            if (after.status, after.sub_status) != (before.status, before.sub_status):
                noted.add(after, str(after.status))
                changed.append(after)
        lost = [name for name in confirmed if name in refused]
        burials = [_letter(parts[name[0]].task, letters.get(name), refused[name]) for name in lost]
        ended = await self._let_go(conn, organisation, changed, parts)
        tally = await store.settle(conn, organisation, changed, {})
        tally.ended = ended
        await store.note(conn, organisation, noted)
        await store.bury_tasks(conn, organisation, burials)
        tally.buried = burials
        tally.lags = [(parts[task].task.platform, lag_s) for (task, _), lag_s in confirmed.items()]
        return tally

    async def _let_go(
        self, conn: Conn, organisation: UUID, changed: Sequence[Task], parts: Mapping[UUID, Part]
    ) -> list[Ended]:
        """Nobody goes on with what has failed here."""
        failed = [task.id for task in changed if task.status is Status.FAILED]
        held = [lease for task in failed if (lease := parts[task].lease) is not None]
        return await self._kept.withdraw(conn, organisation, held)


def _letter(task: Task, chunk: tuple[object, object] | None, why: str) -> Burial:
    cursor, documents = chunk or (None, None)
    payload = orjson.dumps({"cursor": cursor, "documents": documents}).decode()
    return Burial("unwritable", payload, task, why)
