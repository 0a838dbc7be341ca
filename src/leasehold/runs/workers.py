"""The workers of the shipped collectors, inside the server: they take tasks of the broker on lease like any other."""

import asyncio
from contextlib import suppress
from typing import Any
from uuid import UUID

from leasehold import logs
from leasehold.collectors import Collector, CollectorError, RateLimited
from leasehold.db import Database
from leasehold.ids import uuid7
from leasehold.jobs import Jobs, Order
from leasehold.leases import Wanted, nobody
from leasehold.runs import store
from leasehold.runs.service import Collectors
from leasehold.runs.telling import TTL_S, Hold, Paid, Telling

log = logs.get(__name__)

LOOK_EVERY_S = 1.0
AT_ONCE = 32
_WAIT_S = 5.0
# How long results may take to be told when there are no more; whoever stops cannot wait for a database for ever.
_TELL_S = 8.0


class Workers:
    """Whoever collects for the organisations that have runs, in this process."""

    def __init__(self, db: Database, jobs: Jobs, collectors: Collectors, grace_s: float) -> None:
        self._db = db
        self._jobs = jobs
        self._collectors = collectors
        self._grace_s = grace_s
        self._owner = f"leasehold-{uuid7().hex}"
        self._at_work: dict[UUID, asyncio.Task[None]] = {}
        self._is_closed = False

    async def look(self) -> None:
        """Begin to work for organisations that have runs, and cease where there are none any more."""
        async with self._db.system() as conn:
            rows = await (await conn.execute(store.SQL["at_work"])).fetchall()
        wanted = {row[0] for row in rows}
        if self._is_closed:  # they are leaving, in their own time
            return
        for organisation, task in list(self._at_work.items()):
            if task.done() or organisation not in wanted:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                del self._at_work[organisation]
        for organisation in wanted - self._at_work.keys():
            worker = Worker(self._jobs, self._collectors, organisation, self._owner, self._grace_s)
            self._at_work[organisation] = asyncio.create_task(worker.work(), name=f"collect-{organisation.hex}")

    async def close(self) -> None:
        self._is_closed = True
        for task in self._at_work.values():
            task.cancel()
        await asyncio.gather(*self._at_work.values(), return_exceptions=True)
        self._at_work.clear()


class Worker:
    """Collects for one organisation, some items at once."""

    def __init__(self, jobs: Jobs, collectors: Collectors, organisation: UUID, owner: str, grace_s: float) -> None:
        self._jobs = jobs
        self._caller = nobody(organisation)
        self._collectors = {one.platform: one for one in collectors(organisation).values()}
        self._owner = owner
        self._grace_s = grace_s
        self._busy: set[asyncio.Task[None]] = set()
        self._telling = Telling(jobs, self._caller)

    async def work(self) -> None:
        telling = asyncio.create_task(self._telling.tell())
        try:
            while True:
                try:
                    await self._take_some()
                except Exception:
                    log.exception("collector.cannot_take", owner=self._owner)
                    await asyncio.sleep(1.0)
        finally:
            await asyncio.shield(self._leave(telling))

    async def _leave(self, telling: asyncio.Task[None]) -> None:
        """Finish what is paid for already, as far as it ends within the time there is, and give back the rest."""
        if self._busy:
            await asyncio.wait(self._busy, timeout=self._grace_s)
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        self._telling.close()
        await asyncio.wait({telling}, timeout=_TELL_S)
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        self._telling.drop_all()
        with suppress(Exception):
            await self._jobs.leases.revoke_owner(self._caller, self._owner)

    async def _take_some(self) -> None:
        if len(self._busy) >= AT_ONCE:
            await asyncio.wait(self._busy, return_when=asyncio.FIRST_COMPLETED)
        platforms = self._there()
        # When the server stops, what is begun would only be cut off; and nobody is kept waiting any more.
        if not platforms or self._jobs.counter.room.is_closed:
            await asyncio.sleep(_WAIT_S)
            return
        wanted = Wanted(self._owner, limit=AT_ONCE - len(self._busy), ttl_seconds=TTL_S, wait_seconds=_WAIT_S)
        offer = await self._jobs.acquire(self._caller, wanted, platforms, None)
        for grant in offer.grants:
            task = asyncio.create_task(self._collect(grant.resource))
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)

    def _there(self) -> list[str]:
        """The platforms we work for: one whose file is gone, or that has other workers, is no trouble of the rest."""
        found = {slug: self._jobs.catalogue.get(slug) for slug in self._collectors}
        return sorted(slug for slug, platform in found.items() if platform and platform.transport == "http")

    async def _collect(self, order: Order) -> None:
        collector: Collector = self._collectors[order.platform]
        hold = Hold(order.lease)
        hold.begin(self._jobs, self._caller)
        try:
            found = await collector.collect(dict(order.payload))
            said = _result(order, "success", found.cost_micros) | {"payload_chunk": found.documents, "cursor": "all"}
        except CollectorError as error:
            said = _result(order, "failed", error.cost_micros) | {"errors": [_error(error)]}
        except Exception as error:
            log.exception("collector.broke", platform=order.platform, job=order.job)
            broken = {"code": "collector_broke", "message": type(error).__name__}
            said = _result(order, "failed", 0) | {"errors": [broken]}
        except asyncio.CancelledError:
            log.warning("collector.cut_off", platform=order.platform, job=order.job)  # and perhaps paid for
            hold.end()
            raise
        self._telling.put(Paid(said, hold))


def _result(order: Order, status: str, cost_micros: int) -> dict[str, Any]:
    return {
        "job_id": order.job,
        "attempt": order.attempt,
        "fence": order.fence,
        "platform": order.platform,
        "task_type": order.task_type,
        "status": status,
        "seq": 1,
        "final": True,
        "metrics": {"cost_micros": cost_micros},
    }


def _error(error: CollectorError) -> dict[str, Any]:
    told: dict[str, Any] = {"code": error.code, "message": str(error)[:1000]}
    if isinstance(error, RateLimited):
        told["retry_after_seconds"] = error.retry_after_seconds
    return told
