"""The thread that renews leases and gives them back, with an event loop and connections of its own.

It is a thread because work that never awaits would starve a task beside it, and a loop because one renewal that hangs
must hold up neither the others nor the clock. Nothing of it outlives the process, and a forked child has none.
"""

import asyncio
import os
import random
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import httpx

from leasehold.client import calls, transport
from leasehold.client.calls import Call
from leasehold.client.models import Lease, Renewal
from leasehold.client.problems import LeaseLost, LeaseUnknown, ProblemError
from leasehold.client.tenure import Tenure, clock

T = TypeVar("T")

_LONGEST_ATTEMPT_S = 10.0
_LONGEST_TRY_S = 30.0  # what somebody waits for, going in or out, is not tried for ever
_LONGEST_UPLOAD_S = 15.0  # one attempt: a session may be megabytes
_LOOK_AGAIN_S = 1.0  # timers stand still while a machine is suspended, our clock does not
_GOODBYE_S = 5.0


class Keeper:
    """Keeps leases. The thread starts with the first and ends with `close`."""

    def __init__(self, connect: Callable[[], httpx.AsyncClient] | None) -> None:
        self.pid = os.getpid()
        self._connect = connect
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False
        # From here on only the thread's own.
        self._stop = asyncio.Event()
        self._http: httpx.AsyncClient | None = None
        self._kept: dict[Tenure, asyncio.Task[None]] = {}
        self._leaving: set[asyncio.Future[Any]] = set()  # releases and uploads under way
        self._uploads: dict[Tenure, set[asyncio.Future[Any]]] = {}

    def here(self) -> "Keeper":
        """This one; in a forked child, where its thread does not live on, another. Refuses if it could not renew."""
        connect = self._way()
        return self if self.pid == os.getpid() else Keeper(connect)

    @property
    def is_at_work(self) -> bool:
        """False once it is closed or Python ends, and in a forked child: what the parent holds it gives back itself."""
        return not self._is_closed and self.pid == os.getpid() and not sys.is_finalizing()

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Have it done in the thread; never waits itself."""
        loop = self._started()
        return asyncio.run_coroutine_threadsafe(work(), loop)

    def close(self) -> None:
        """End the thread. What is still held is lost, and its holders are told."""
        if not self.is_at_work:
            return
        with self._lock:
            self._is_closed = True
        if self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_GOODBYE_S)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="leasehold-keeper", daemon=True
                )
                self._thread.start()
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        await self._stop.wait()
        for tenure in list(self._kept):
            tenure.lose(LeaseLost.here(tenure.lease, "closed", "The client was closed while it held this lease."))
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=_GOODBYE_S / 2)
        if self._http:
            await self._http.aclose()

    async def take(self, grant: Lease, asked_s: int, sent_s: float) -> Tenure:
        """Begin to keep what was granted to a request that was sent then.

        When the request was held for so long that a renewal is due already, that is done first: from its sending on
        we know better how long the lease is ours. Raises LeaseLost if it has ended meanwhile.
        """
        ttl_s = min(asked_s, (grant.expires_at - grant.acquired_at).total_seconds())
        tenure = Tenure(grant, ttl_s, sent_s)
        if clock() >= tenure.renew_s:
            tenure = await self._confirmed(tenure, asked_s)
        self._kept[tenure] = asyncio.create_task(self._keep(tenure, asked_s))
        return tenure

    async def _confirmed(self, tenure: Tenure, asked_s: int) -> Tenure:
        try:
            sent_s, lease = await self._renewed(tenure, asked_s, clock() + min(tenure.ttl_s, _LONGEST_TRY_S))
        except LeaseLost:
            raise
        except Exception as error:
            detail = "The lease was granted, but could not be renewed before it was used."
            raise LeaseLost.here(tenure.lease, "expired", detail) from error
        return Tenure(lease, tenure.ttl_s, sent_s)

    async def upload(self, tenure: Tenure, call: Call[T]) -> T:
        """Send what is worth having under a lease; a release of the lease waits for it."""
        sending = asyncio.ensure_future(self._delivered(call, clock() + _LONGEST_TRY_S))
        under_way = self._uploads.setdefault(tenure, set())
        for waited_for in (under_way, self._leaving):
            waited_for.add(sending)
            sending.add_done_callback(waited_for.discard)
        return await sending

    async def _delivered(self, call: Call[T], until_s: float) -> T:
        pause_s = 0.2
        while True:
            try:
                async with asyncio.timeout(min(_LONGEST_UPLOAD_S, until_s - clock())):
                    return await self._send(call)
            except Exception as error:
                if _is_refusal(error) or clock() + pause_s >= until_s:
                    raise
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311
            pause_s = min(2 * pause_s, 5.0)

    async def give_back(self, tenure: Tenure, call: Call[Any]) -> Exception | None:
        """Stop renewing and release, trying while the lease lasts; returns why that did not work."""
        if uploads := self._uploads.pop(tenure, None):
            await asyncio.wait(uploads)
        await self.forget(tenure)
        if tenure.lost:
            return tenure.lost
        until_s = min(tenure.ends_s, clock() + _LONGEST_TRY_S)
        release = asyncio.ensure_future(self._insist(call, tenure, until_s, _is_refusal))
        self._leaving.add(release)
        release.add_done_callback(self._leaving.discard)
        try:
            await release
        except Exception:
            return tenure.trouble
        return None

    async def forget(self, tenure: Tenure) -> None:
        """Stop renewing it."""
        task = self._kept.pop(tenure, None)
        if task:
            task.cancel()
            await asyncio.wait([task])

    async def _keep(self, tenure: Tenure, asked_s: int) -> None:
        """Renew at a third of its time, and after a failure quickly, until it is lost."""
        while True:
            await _until(min(tenure.renew_s, tenure.ends_s))
            if tenure.is_over:
                return
            try:
                sent_s, lease = await self._renewed(tenure, asked_s, tenure.ends_s)
            except LeaseLost as lost:
                tenure.lose(lost)
            except Exception:  # noted by the tenure; there was no time for another try
                await _until(tenure.ends_s)
            else:
                tenure.renewed(lease, sent_s)
                if lease.cancel:
                    tenure.lose(LeaseLost.here(tenure.lease, "cancelled", "The job was cancelled."))

    async def _renewed(self, tenure: Tenure, asked_s: int, until_s: float) -> tuple[float, Renewal]:
        try:
            return await self._insist(calls.heartbeat(tenure.lease, ttl=asked_s), tenure, until_s, _is_verdict)
        except LeaseUnknown as unknown:
            raise LeaseLost.here(tenure.lease, "unknown", unknown.detail) from unknown

    async def _insist(
        self, call: Call[T], tenure: Tenure, until_s: float, is_final: Callable[[Exception], bool]
    ) -> tuple[float, T]:
        """Send it until it is answered; says when the attempt that was answered was sent."""
        pause_s = tenure.ttl_s / 60
        while True:
            sent_s = clock()
            try:
                async with asyncio.timeout(min(until_s - sent_s, tenure.ttl_s / 4, _LONGEST_ATTEMPT_S)):
                    return sent_s, await self._send(call)
            except Exception as error:
                tenure.failed(error)
                if is_final(error) or clock() + pause_s >= until_s:
                    raise
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311
            pause_s = min(2 * pause_s, tenure.ttl_s / 12)

    async def _send(self, call: Call[T]) -> T:
        if self._http is None:
            self._http = self._way()()
        answer = await self._http.request(**transport.request_for(call, self._http.timeout))
        return transport.read(call, answer)

    def _way(self) -> Callable[[], httpx.AsyncClient]:
        if self._connect is None:
            raise TypeError("a client with a `transport` or `mounts` needs `renewal_transport` too, to hold leases")
        return self._connect


async def _until(moment_s: float) -> None:
    while (left_s := moment_s - clock()) > 0:  # noqa: ASYNC110 (there is nothing to be told of, only the clock)
        await asyncio.sleep(min(left_s, _LOOK_AGAIN_S))


def _is_verdict(error: Exception) -> bool:
    """The server itself says that the lease is over. Whatever else went wrong may go right the next time."""
    return isinstance(error, LeaseLost | LeaseUnknown)


def _is_refusal(error: Exception) -> bool:
    """The server understood and will not: asking again changes nothing."""
    return isinstance(error, ProblemError) and error.status not in transport.BUSY and error.status < 500
