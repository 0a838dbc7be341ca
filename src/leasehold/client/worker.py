"""A worker: decorate a function with what it can crawl, yield what it finds; everything else is done here.

No database, no retries, no queue of its own: tasks are held on leases that renew themselves, results are durable before
more is asked for, and what a worker leaves behind, whichever way it ends, goes to another.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from leasehold.client.worker_http import HttpTransport
from leasehold.client.worker_models import Chunk, Skipped, Task, TaskFailed
from leasehold.client.worker_transport import Held, Source, Transport, WorkerMisconfigured
from leasehold.client.worker_turn import Function, Stop, Terms, Turn, Write, is_function
from leasehold.client.worker_words import log

__all__ = ["Chunk", "Skipped", "Task", "TaskFailed", "Worker", "WorkerMisconfigured"]

F = TypeVar("F", bound=Callable[..., Any])

_WAIT_S = 20  # how long the server may hold an ask
_SHORT_WAIT_S = 1  # when another source waits for the place that this one asks with
_GOODBYE_S = 15.0  # to tell the server that tasks come back


class Worker:
    """Works on tasks of the platforms and types it has functions for, at most `concurrency` at once.

    `url` and `token` are LEASEHOLD_URL and LEASEHOLD_TOKEN unless given; an amqp:// address takes tasks from RabbitMQ.
    `write` is called with the task and each chunk before it is sent, where the crawler still writes by itself.
    When it is told to stop, running tasks have `stop_seconds` to come to their end; a function that is cancelled has
    `cleanup_seconds` to clean up.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        concurrency: int = 10,
        write: Write | None = None,
        stop_seconds: float = 30.0,
        cleanup_seconds: float = 10.0,
        transport: Transport | None = None,
    ) -> None:
        self.url = url
        self.concurrency = concurrency
        self._token = token
        self._write = write
        self._stop_s = stop_seconds
        self._cleanup_s = cleanup_seconds
        self._given = transport
        self._functions: dict[tuple[str, str], Function] = {}
        self._turns: dict[asyncio.Task[None], Turn] = {}
        self._stopping: asyncio.Event | None = None
        self._hurry: asyncio.Event | None = None

    def task(self, platform: str, task_type: str) -> Callable[[F], F]:
        """Decorate the function for tasks of that type: an `async def` that yields chunks, or returns documents."""

        def add(function: F) -> F:
            if not is_function(function):
                raise TypeError("a task's function is an `async def` that yields chunks or returns documents")
            if (platform, task_type) in self._functions:
                raise TypeError(f"{platform} {task_type} has a function already")
            self._functions[platform, task_type] = function
            return function

        return add

    @property
    def subjects(self) -> dict[str, frozenset[str]]:
        """What it works on: platforms, with the types of task."""
        platforms = dict.fromkeys(platform for platform, _ in self._functions)
        return {one: frozenset(kind for slug, kind in self._functions if slug == one) for one in platforms}

    def transport(self) -> Transport:
        """The way its tasks and results take. Raises WorkerMisconfigured when it was not told of any."""
        if not self._functions:
            raise WorkerMisconfigured("This worker has no function: decorate one with @worker.task(platform, type).")
        if self.concurrency < 1:
            raise WorkerMisconfigured("A worker does at least one task at once.")
        if self._given is None:
            self._given = self._chosen()
        return self._given

    def _chosen(self) -> Transport:
        url = self.url or os.environ.get("LEASEHOLD_URL")
        if not url:
            raise WorkerMisconfigured("There is no server to work for: set LEASEHOLD_URL, or pass a url.")
        if url.startswith(("amqp://", "amqps://")):
            from leasehold.client.worker_amqp import AmqpTransport  # its library is not everybody's

            return AmqpTransport(url)
        token = self._token or os.environ.get("LEASEHOLD_TOKEN")
        if not token:
            raise WorkerMisconfigured("There is no token: set LEASEHOLD_TOKEN, or pass one.")
        return HttpTransport(url, token)

    def run(self) -> None:
        """Work until SIGTERM or Ctrl-C; a second one stops at once."""
        asyncio.run(run_all([self]))

    def stop(self) -> None:
        """Take nothing more, and give back what does not come to its end in time. Called again: give back now."""
        if self._stopping and self._hurry:
            (self._hurry if self._stopping.is_set() else self._stopping).set()

    async def serve(self) -> None:
        """Work until `stop`. Raises WorkerMisconfigured when it cannot begin."""
        way = self.transport()
        self._stopping, self._hurry = asyncio.Event(), asyncio.Event()
        sources = await way.open(self.subjects, self.concurrency)
        places = asyncio.Semaphore(self.concurrency)
        terms = Terms(way, self._write, self._cleanup_s)
        stopping = asyncio.create_task(self._stopping.wait())
        askers = [asyncio.create_task(self._ask(source, sources, places, terms)) for source in sources]
        try:
            await asyncio.wait([stopping, *askers], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (stopping, *askers):
                one.cancel()
            await asyncio.wait(askers)
            await self._leave()
            await way.close()
        for asker in askers:
            if not asker.cancelled() and (error := asker.exception()):
                raise error

    async def _ask(self, source: Source, sources: Sequence[Source], places: asyncio.Semaphore, terms: Terms) -> None:
        """Fill free places with tasks of a source. A place is taken before a task is asked for, never after."""
        several = len(sources) > 1  # they share the places: one is spared for whoever has something first
        most = max(1, (self.concurrency - 1) // len(sources)) if several else self.concurrency
        while True:
            await places.acquire()
            taken = 1
            try:
                while taken < most and not places.locked():
                    await places.acquire()
                    taken += 1
                found = await source.take(taken, _SHORT_WAIT_S if several and places.locked() else _WAIT_S)
                taken -= len(found)
                for held in found:
                    self._begin(held, places, terms)
            finally:
                for _ in range(taken):
                    places.release()

    def _begin(self, held: Held, places: asyncio.Semaphore, terms: Terms) -> None:
        name = (held.task.platform, held.task.task_type)
        turn = Turn(held, self._functions.get(name, _unknown), terms)
        task = asyncio.create_task(turn.run())
        self._turns[task] = turn

        def over(done: asyncio.Task[None]) -> None:
            self._turns.pop(done)
            places.release()

        task.add_done_callback(over)

    async def _leave(self) -> None:
        """Running tasks come to their end, or go back."""
        assert self._hurry is not None  # noqa: S101 (it is set where this is called)
        hurry = asyncio.create_task(self._hurry.wait())
        with suppress(TimeoutError):
            async with asyncio.timeout(self._stop_s):
                while self._turns and not hurry.done():
                    await asyncio.wait([hurry, *self._turns], return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        for turn in self._turns.values():
            turn.stop(Stop.LEAVING)
        if self._turns:
            await asyncio.wait(list(self._turns), timeout=self._cleanup_s + _GOODBYE_S)
        for turn in self._turns.values():
            log.warning("%s is left behind", turn.name)


async def _unknown(task: Task) -> None:
    """A queue has all types of its platform in it."""
    raise TaskFailed("task_type_unknown", f"This worker has no function for {task.platform} {task.task_type}.")


async def run_all(workers: Sequence[Worker]) -> None:
    """Work until SIGTERM or SIGINT; the first worker that cannot go on stops the others."""

    def stop() -> None:
        for worker in workers:
            worker.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError):  # not everywhere, and only in the main thread
            loop.add_signal_handler(number, stop)
    running = [asyncio.create_task(worker.serve()) for worker in workers]
    await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    stop()
    await asyncio.gather(*running)
