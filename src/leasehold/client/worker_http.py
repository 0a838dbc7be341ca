"""Tasks over HTTP: leased, renewed by the keeper's thread, and ended by their last result."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

import httpx

from leasehold import __version__
from leasehold.client import calls, job_calls, transport
from leasehold.client.calls import Call
from leasehold.client.keeper import Keeper
from leasehold.client.problems import LeaseLost, ProblemError
from leasehold.client.tenure import Tenure, clock, margin_s
from leasehold.client.wishes import Owner
from leasehold.client.worker_courier import Courier
from leasehold.client.worker_models import Task, TaskGrant, TaskOffer, Verdict
from leasehold.client.worker_transport import Held, Source, Subjects, WorkerMisconfigured
from leasehold.client.worker_words import log, plain, told

T = TypeVar("T")

_REFUSED_S = 5.0  # before asking again somebody who has said no
_EARLY_S = 0.5  # a request that came back sooner than this before its end was not held


class HeldTask:
    """A task on its lease."""

    def __init__(self, grant: TaskGrant, tenure: Tenure, received_s: float) -> None:
        self.task: Task = grant.task
        self.tenure = tenure
        # Counted in the server's time from the grant on, and in ours from when we heard of it; a little less, so that
        # the last word arrives before the server has the last word.
        left_s = (grant.task.deadline_at - grant.acquired_at) / timedelta(seconds=1)
        self.deadline_s = received_s + left_s - margin_s(left_s)

    @property
    def lost(self) -> str | None:
        lost = self.tenure.lost
        return lost.detail if lost else None

    def tell(self, listener: Callable[[str], None]) -> None:
        self.tenure.tell(lambda lost: listener(lost.detail))


class HttpTransport:
    """A leasehold server. `ttl_s` asks for leases of that length instead of what each platform's file says."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        ttl_s: int | None = None,
        timeout_s: float = 60.0,
        renewal_transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
        **options: Any,
    ) -> None:
        self.address = plain(url)
        self.owner = str(Owner())
        self.ttl_s = ttl_s
        headers = transport.headers(token, __version__)
        self._options: dict[str, Any] = {"base_url": url, "headers": headers, "timeout": timeout_s, **options}
        self._keeper = Keeper(transport.connector(url, headers, renewal_transport, options))
        self.is_cut = False  # an ask was, and what it was granted was never handed on

    async def open(self, subjects: Subjects, _concurrency: int) -> Sequence[Source]:
        """One source for all platforms that have the same types of task: an ask names platforms and types apart."""
        try:
            is_address = httpx.URL(self._options["base_url"]).scheme in ("http", "https")
        except httpx.InvalidURL:
            is_address = False
        if not is_address:
            raise WorkerMisconfigured(f"{self.address} is no address of a leasehold server.")
        self._http = httpx.AsyncClient(**self._options)
        self._keeper = self._keeper.here()
        self._courier = Courier(lambda messages: self._once(job_calls.bring_results(messages)))
        alike: dict[frozenset[str], list[str]] = {}
        for platform, types in subjects.items():
            alike.setdefault(types, []).append(platform)
        return [HttpSource(self, sorted(platforms), sorted(types)) for types, platforms in alike.items()]

    def bring(self, held: Held, message: str) -> asyncio.Future[Verdict]:
        return self._courier.bring(message, lambda: held.lost)

    async def end(self, held: Held) -> None:
        await self.drop(held)

    async def drop(self, held: Held) -> None:
        tenure = _tenure(held)
        lost = tenure.lost
        tenure.leave()
        await self._kept(lambda: self._keeper.forget(tenure))
        if lost is not None and lost.reason == "cancelled":
            # The lease lives until somebody says so, and until then the platform counts it.
            try:
                await self._once(calls.release(tenure.lease, outcome="returned", reason="the job was cancelled"))
            except Exception as error:
                log.warning("%s could not be given back: %s", held.task.job_id, told(error))

    async def give_back(self, held: Held) -> None:
        tenure = _tenure(held)
        call = calls.release(tenure.lease, outcome="returned", reason="the worker stops")
        if trouble := await self._kept(lambda: self._keeper.give_back(tenure, call)):
            log.warning("%s could not be given back: %s", held.task.job_id, told(trouble))

    async def close(self) -> None:
        await self._courier.close()
        if self.is_cut:
            await self._give_back_unseen()
        await asyncio.to_thread(self._keeper.close)
        await self._http.aclose()

    async def ask(self, call: Call[TaskOffer]) -> tuple[TaskOffer, float]:
        """Send an ask until it is answered, under one key: what it was granted is found again. When it was sent."""
        failures, sent_s = 0, clock()
        while True:
            try:
                return await self._once(call), sent_s
            except Exception as error:
                if isinstance(error, ProblemError) and error.status not in transport.BUSY and error.status < 500:
                    raise
                log.warning("asking for tasks again: %s", told(error))
            failures += 1
            await asyncio.sleep(transport.pause_after(min(failures, 6)))

    async def keep(self, grant: TaskGrant, sent_s: float) -> HeldTask | None:
        """Begin to renew it; None when it was lost on its way to us."""
        received_s = clock()
        ttl_s = round((grant.expires_at - grant.acquired_at) / timedelta(seconds=1))
        try:
            tenure = await self._kept(lambda: self._keeper.take(grant, ttl_s, sent_s))
        except LeaseLost as lost:
            log.warning("%s was lost before it was begun: %s", grant.task.job_id, lost.detail)
            return None
        return HeldTask(grant, tenure, received_s)

    async def _give_back_unseen(self) -> None:
        """An ask was cut off, and may have been answered. The owner is this worker's alone, so what it has is ours."""
        with suppress(httpx.TransportError, ProblemError):
            left = await self._once(calls.list_leases(kind="task", owner=self.owner, limit=500))
            for lease in left.items:
                await self._once(calls.release(lease.id, outcome="returned", reason="the worker stops"))

    async def _once(self, call: Call[T]) -> T:
        answer = await self._http.request(**transport.request_for(call, self._http.timeout))
        return transport.read(call, answer)

    async def _kept(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await asyncio.shield(asyncio.wrap_future(self._keeper.submit(work)))


class HttpSource:
    """Tasks of some platforms and types."""

    def __init__(self, way: HttpTransport, platforms: Sequence[str], types: Sequence[str]) -> None:
        self._way = way
        self._platforms = platforms
        self._types = types
        self._is_known = False  # an ask was answered: the address, the token and the platforms are right

    async def take(self, limit: int, wait_s: int) -> Sequence[Held]:
        try:
            return await self._take(limit, wait_s)
        except asyncio.CancelledError:
            self._way.is_cut = True
            raise

    async def _take(self, limit: int, wait_s: int) -> Sequence[Held]:
        call = job_calls.acquire_tasks(
            self._platforms,
            owner=self._way.owner,
            task_types=self._types,
            limit=min(limit, 100),
            ttl=self._way.ttl_s,
            wait=wait_s,
        )
        try:
            offer, sent_s = await self._way.ask(call)
        except LeaseLost:  # what an earlier attempt was granted ended before we heard of it
            return []
        except ProblemError as error:
            if not self._is_known:
                raise WorkerMisconfigured(f"{self._way.address} refuses: {error}") from error
            log.warning("no tasks are given out: %s", told(error))
            await asyncio.sleep(_REFUSED_S)
            return []
        self._is_known = True
        if not offer.leases:
            await self._rest(offer, sent_s, wait_s)
        kept = await asyncio.gather(*(self._way.keep(grant, sent_s) for grant in offer.leases))
        return [held for held in kept if held is not None]

    async def _rest(self, offer: TaskOffer, sent_s: float, wait_s: int) -> None:
        """A request that was held to its end has done the waiting."""
        if offer.waiting and clock() - sent_s < wait_s - _EARLY_S:
            await asyncio.sleep(min(offer.waiting.retry_after_seconds, 1.0))


def _tenure(held: Held) -> Tenure:
    assert isinstance(held, HeldTask)  # noqa: S101 (each transport gets back what it gave)
    return held.tenure
