"""Results on their way from a worker into the books: they are paid for, so nothing but time makes one be given up."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from leasehold import logs
from leasehold.caller import Caller
from leasehold.jobs import Jobs
from leasehold.problems import Problem

log = logs.get(__name__)

# A process that dies has its items given to others after so long; one that lives says so in time.
TTL_S = 20
BEAT_S = 5.0
# Once the lease of a result may have run out, it is tried for so long: whoever collects it again is not told twice.
_AFTER_S = 300.0
_PAUSES_S = (0.1, 0.5, 2.0, 5.0)
# Results that are sent together, at the most.
_BATCH = 100
# What says that nobody was there to take it, and nothing about what was sent.
_AWAY = (OperationalError, PoolTimeout, Problem)


@dataclass(slots=True)
class Hold:
    """An item in a worker's hand: its lease, and when that was last known to live."""

    lease: UUID
    alive_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    beating: asyncio.Task[None] | None = None

    def begin(self, jobs: Jobs, caller: Caller) -> None:
        self.beating = asyncio.create_task(self._beat(jobs, caller))

    def end(self) -> None:
        if self.beating is not None:
            self.beating.cancel()

    @property
    def is_given_up(self) -> bool:
        return asyncio.get_running_loop().time() > self.alive_at + TTL_S + _AFTER_S

    async def _beat(self, jobs: Jobs, caller: Caller) -> None:
        """Keep an item until its result is told: given to another, it would be paid for twice."""
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await jobs.leases.renew(caller, self.lease, None)
            except _AWAY:
                continue
            self.alive_at = asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True)
class Paid:
    """What a call brought, and the item it was made for."""

    said: dict[str, Any]
    hold: Hold

    @property
    def job(self) -> str:
        return str(self.said["job_id"])


class Telling:
    """Sends the results of one worker, those together that come while others are on their way."""

    def __init__(self, jobs: Jobs, caller: Caller) -> None:
        self._jobs = jobs
        self._caller = caller
        self._coming: asyncio.Queue[Paid | None] = asyncio.Queue()  # None: there will be no more
        self._untold: list[Paid] = []

    def put(self, paid: Paid) -> None:
        self._coming.put_nowait(paid)

    def close(self) -> None:
        self._coming.put_nowait(None)

    async def tell(self) -> None:
        is_last = False
        while not is_last:
            taken = [await self._coming.get()]
            while len(taken) < _BATCH and not self._coming.empty():
                taken.append(self._coming.get_nowait())
            is_last = None in taken
            self._untold = [one for one in taken if one is not None]
            await self._send()

    def drop_all(self) -> None:
        """There is no more time for what was not told."""
        while not self._coming.empty():
            if (one := self._coming.get_nowait()) is not None:
                self._untold.append(one)
        self._drop(self._untold)

    async def _send(self) -> None:
        """Until all of them are told or given up, for as long as nobody is there."""
        tries = 0
        while self._untold:
            try:
                await self._take(self._untold)
            except _AWAY as error:
                log.warning("collector.cannot_tell", results=len(self._untold), why=type(error).__name__)
                self._drop([one for one in self._untold if one.hold.is_given_up])
                await asyncio.sleep(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)])
                tries += 1
            except Exception:
                log.exception("collector.cannot_tell", results=len(self._untold))
                await self._send_apart()
                await asyncio.sleep(_PAUSES_S[0])

    async def _send_apart(self) -> None:
        """One of them cannot be taken. It has failed, which is told: nobody buys it again."""
        for one in list(self._untold):
            try:
                await self._take([one])
            except _AWAY:
                return
            except Exception:
                await self._fail(one)

    async def _fail(self, one: Paid) -> None:
        error = {"code": "unwritable", "message": "What it brought cannot be written.", "retryable": False}
        said = {**one.said, "status": "failed", "payload_chunk": [], "cursor": None, "errors": [error]}
        try:
            await self._jobs.take_results(self._caller, [said])
        except _AWAY:
            return
        except Exception:
            log.exception("collector.cannot_tell", results=1)
            self._drop([one])
        else:
            log.error("collector.unwritable", job=one.job)
            self._let_go([one])

    async def _take(self, several: Sequence[Paid]) -> None:
        await self._jobs.take_results(self._caller, [one.said for one in several])
        self._let_go(several)

    def _drop(self, several: Sequence[Paid]) -> None:
        if several:
            log.error("collector.dropped", jobs=[one.job for one in several])
            self._let_go(several)

    def _let_go(self, several: Sequence[Paid]) -> None:
        for one in list(several):
            one.hold.end()
            self._untold.remove(one)
