"""Tasks that go to workers through a broker: taken like any other, marked once it has them, kept while they lie there.

Order, limits, fairness and pauses are the counter's, as for workers that come over HTTP. The lease is the broker's
until a worker says its first word; from then on the worker's own messages renew it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from leasehold import leases
from leasehold.db import Conn, Database
from leasehold.jobs import machine, posted, store
from leasehold.jobs.answers import task_of
from leasehold.jobs.machine import Status
from leasehold.jobs.messages import CollectorTask
from leasehold.jobs.models import Burial, Noted, Order
from leasehold.jobs.stock import BROKER, wish
from leasehold.leases import Counter, Ended, Ending, How, KeptLeases, Kind, Wanted, nobody
from leasehold.platforms import Catalogue, Platform

POISON = "poison"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A task on its way to the broker."""

    lease: UUID
    task: CollectorTask
    lease_s: int = 60  # without a word from its worker


class Posting:
    """All that is done with tasks of platforms whose transport is a broker."""

    def __init__(
        self, db: Database, kept: KeptLeases, counter: Counter[Order], catalogue: Catalogue, max_age_s: int
    ) -> None:
        self._db = db
        self._kept = kept
        self._counter = counter
        self._catalogue = catalogue
        self._max_age_s = max_age_s

    @property
    def platforms(self) -> list[Platform]:
        return [one for one in self._catalogue.platforms.values() if one.transport == "amqp"]

    @property
    def is_closed(self) -> bool:
        """The process is about to end: nothing more is given out."""
        return self._counter.room.is_closed

    async def take(self, organisation: UUID, platforms: Sequence[str], limit: int, wait_s: float) -> list[Parcel]:
        """The next tasks in their order, as far as the platforms bear them; waits for some to come."""
        wanted = Wanted(
            owner=BROKER, limit=limit, ttl_seconds=0, wait_seconds=wait_s, labels=wish(platforms, task_types=None)
        )
        offer = await self._counter.acquire(nobody(organisation), wanted)
        return [
            Parcel(
                one.lease.id,
                task_of(one.resource, self._catalogue.get(one.resource.platform)),
                self._catalogue.platforms[one.resource.platform].timeouts.lease_seconds,
            )
            for one in offer.grants
        ]

    async def published(self, organisation: UUID, parcels: Sequence[Parcel]) -> None:
        """The broker has confirmed them."""
        queue_s = {one.lease: self._queue_s(one.task.platform) for one in parcels}
        async with self._db.transaction(organisation) as conn:
            await posted.mark(conn, organisation, queue_s)

    async def give_back(self, organisation: UUID, parcels: Sequence[Parcel]) -> None:
        """The broker did not take them, or did not say so: neither a lost worker nor an attempt."""
        await self._counter.give_back(organisation, [one.lease for one in parcels], None)

    async def keep(self, organisation: UUID, depths: Mapping[str, int]) -> None:
        """Renew what lies in the queues, where so many messages wait for a worker."""
        deep = [(platform, depth, self._queue_s(platform)) for platform, depth in depths.items() if depth]
        async with self._db.transaction(organisation) as conn:
            if deep:
                await posted.keep(conn, organisation, deep)
            found = await posted.queued(conn, organisation)
            if found:
                await leases.renewed(
                    await leases.renew(conn, organisation, dict.fromkeys(sorted(found)), self._max_age_s)
                )

    async def poisoned(self, organisation: UUID, task: CollectorTask, payload: str) -> None:
        """It ended one worker after the other, and the broker gave up: a lost worker, and a dead letter."""

        async def book(conn: Conn) -> list[Ended]:
            return await _book_poison(conn, organisation, task, payload)

        self._kept.ended(organisation, await self._kept.steadily(organisation, book))

    def _queue_s(self, slug: str) -> int:
        found = self._catalogue.get(slug)
        return found.timeouts.queue_seconds if found else 300


async def _book_poison(conn: Conn, organisation: UUID, said: CollectorTask, payload: str) -> list[Ended]:
    detail = "Workers that took it ended without a word, until RabbitMQ gave up."
    found = await store.parts_of(conn, organisation, [said.job_id])
    ids = [part.task.id for part in found if part.task.platform == said.platform]
    await store.hold_tasks(conn, organisation, ids)
    parts = {part.task.id: part for part in await store.parts_of(conn, organisation, [said.job_id])}
    if not ids:
        letter = Burial(POISON, payload, None, detail, said.platform, said.job_id)
        await store.bury_tasks(conn, organisation, [letter])
        return []
    part = parts[ids[0]]
    if part.lease is None or (part.task.attempt, part.task.fence) != (said.attempt, said.fence):
        return []  # it was given to somebody else, or this was booked before
    burials = [Burial(POISON, payload, part.task, detail)]
    ended = await leases.end(conn, organisation, [part.lease], Ending(Kind.TASK, How.REVOKED, reason=POISON))
    if ended:  # else its time ran out just now, and that is booked as ever
        after = machine.lost(part.task)
        noted = Noted()
        noted.add(after, "lost", owner=BROKER, reason=POISON)
        if after.status is Status.FAILED:
            burials.append(Burial("worker_lost", "{}", after, detail))
        await store.settle(conn, organisation, [after], {})
        await store.note(conn, organisation, noted)
    await store.bury_tasks(conn, organisation, burials)
    return ended
