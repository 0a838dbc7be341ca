"""One task from the first line of its function to its last word, whatever ends it."""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from enum import Enum
from traceback import format_tb
from typing import Any

from leasehold.client.problems import LeaseLost
from leasehold.client.tenure import clock
from leasehold.client.worker_models import (
    Chunk,
    LastWord,
    Messages,
    Place,
    ResultRefused,
    Skipped,
    Task,
    TaskFailed,
    Verdict,
)
from leasehold.client.worker_transport import Held, Transport
from leasehold.client.worker_words import log, plain, told

Function = Callable[[Task], Any]  # a coroutine, or an asynchronous generator
Write = Callable[[Task, Chunk], Awaitable[None]]

# Chunks that may be on their way while the function makes the next.
_WINDOW = 4
# What a function returns at once is sent in pieces of so many documents.
_PIECE = 1000


class Stop(Enum):
    """What ends a function before it has come to its end."""

    LOST = "lost"  # the task is somebody else's, or nobody's
    DEADLINE = "deadline"
    LEAVING = "leaving"  # the worker stops


@dataclass(frozen=True, slots=True)
class Terms:
    """What all turns of a worker share."""

    transport: Transport
    write: Write | None
    cleanup_s: float


class Turn:
    """Runs the function of one task and brings what it makes."""

    def __init__(self, held: Held, function: Function, terms: Terms) -> None:
        self._held = held
        self._terms = terms
        self._messages = Messages(held.task)
        self._task = held.task.model_copy(update={"cursor": Place.of(held.task).cursor})
        self._function = function
        self._way: deque[asyncio.Future[Verdict]] = deque()  # results that are not answered yet
        self._why: Stop | None = None
        self._stopped = asyncio.Event()
        self.name = f"{held.task.platform} {held.task.job_id}"

    async def run(self) -> None:
        """Returns when the function has ended and the last word is durable; raises nothing."""
        loop = asyncio.get_running_loop()

        def lost(why: str) -> None:
            with suppress(RuntimeError):  # the loop is closed: there is no function any more
                loop.call_soon_threadsafe(self._lose, why)

        timer = loop.call_later(max(0.0, self._held.deadline_s - clock()), self.stop, Stop.DEADLINE)
        self._work = asyncio.create_task(self._do(), name=self.name)
        self._held.tell(lost)
        try:
            await self._ended()
            await self._close(self._last_word())
        except Exception as error:
            log.error("%s could not be ended: %s", self._task.job_id, told(error))
        finally:
            timer.cancel()
            _forget(self._way)
        if not self._work.done():
            log.warning("%s goes on although it was cancelled", self._task.job_id)
            await asyncio.wait([self._work])  # its place is taken as long as it runs

    def stop(self, why: Stop) -> None:
        """Cancel the function; the first reason stands."""
        if self._why is None and not self._work.done():
            self._why = why
            self._stopped.set()
            self._work.cancel()

    def _lose(self, why: str) -> None:
        if self._why is None and not self._work.done():
            log.warning("%s is lost: %s", self._task.job_id, why)
        self.stop(Stop.LOST)

    async def _ended(self) -> None:
        """Until the function is over, or has had its time to clean up."""
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait([self._work, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not self._work.done():
            await asyncio.wait([self._work], timeout=self._terms.cleanup_s)

    def _last_word(self) -> LastWord | None:
        """None when there is nothing to be said."""
        said = self._work.result() if self._work.done() and not self._work.cancelled() else None
        match self._why:
            case None:
                return said or LastWord.failed("crawler_error", "CancelledError")
            case Stop.LOST:
                return None
            case _ if said and said.status != "failed":
                return said  # it had come to its end before it could be cancelled
            case Stop.DEADLINE:
                return LastWord.failed("timeout", "The deadline of the job passed.")
            case Stop.LEAVING:
                return None

    async def _close(self, word: LastWord | None) -> None:
        transport = self._terms.transport
        if self._why is Stop.LOST or self._held.lost:
            await transport.drop(self._held)
        elif word is None:
            if self._way:  # what was made is worth having
                await asyncio.wait(self._way, timeout=self._terms.cleanup_s)
            await transport.give_back(self._held)
        else:
            await self._say(word)
            await transport.end(self._held)

    async def _say(self, word: LastWord) -> None:
        try:
            verdict = await self._terms.transport.bring(self._held, self._messages.last(word))
        except LeaseLost as lost:
            log.warning("%s was lost before its end could be told: %s", self._task.job_id, lost.detail)
        else:
            if verdict.verdict not in ("accepted", "duplicate"):
                log.warning("the end of %s is %s: %s", self._task.job_id, verdict.verdict, verdict.detail)

    async def _do(self) -> LastWord | None:
        try:
            await self._crawl()
            while self._way:
                await self._answered()
        except TaskFailed as failed:
            return LastWord.failed(
                failed.code, failed.message, retryable=failed.retryable, cost_micros=failed.cost_micros
            )
        except Skipped as skipped:
            return LastWord("skipped", [{"code": "skipped", "message": plain(str(skipped))}])
        except ResultRefused as refused:
            return LastWord.failed("result_refused", str(refused), retryable=False)
        except LeaseLost as lost:
            log.warning("%s is lost: %s", self._task.job_id, lost.detail)
            self._why = Stop.LOST
            return None
        except Exception as error:
            # The lines of the crawler's own code, and none of the values in them.
            log.warning("%s failed: %s\n%s", self.name, told(error), "".join(format_tb(error.__traceback__)))
            return LastWord.failed("crawler_error", told(error))
        return LastWord("success")

    async def _crawl(self) -> None:
        if self._task.writer.crawler_writes and self._terms.write is None:
            detail = "The crawler is to write its results itself, and this worker was given no `write`."
            raise TaskFailed("no_writer", detail, retryable=False)
        asked_s = clock()
        async with aclosing(_made(self._function, self._task)) as chunks:
            async for chunk in chunks:
                await self._bring(chunk, 1000 * (clock() - asked_s))
                asked_s = clock()

    async def _bring(self, chunk: Chunk, duration_ms: float) -> None:
        """Send a chunk; waits when too many are on their way."""
        if self._why is not None:
            raise asyncio.CancelledError  # it was told, and took no notice
        message = self._messages.chunk(chunk, duration_ms)
        if self._task.writer.crawler_writes and self._terms.write is not None:
            await self._write(self._terms.write, chunk)
        self._way.append(self._terms.transport.bring(self._held, message))
        while len(self._way) >= _WINDOW or (self._way and self._way[0].done()):
            await self._answered()

    async def _write(self, write: Write, chunk: Chunk) -> None:
        try:
            await write(self._task, chunk)
        except (TaskFailed, Skipped):
            raise
        except Exception as error:
            raise TaskFailed("write_failed", told(error), retryable=True) from error

    async def _answered(self) -> None:
        """Wait for the oldest answer."""
        verdict = await asyncio.shield(self._way[0])
        self._way.popleft()
        match verdict.verdict:
            case "superseded":
                raise LeaseLost.here("", "superseded", "Somebody else has the task by now.")
            case "invalid":
                raise ResultRefused(verdict.detail or "The server could not read it.")
            case "conflict":
                log.warning("%s: %s", self._task.job_id, verdict.detail)


def _forget(left: deque[asyncio.Future[Verdict]]) -> None:
    for one in left:
        if not one.cancel() and not one.cancelled():
            one.exception()  # nobody is left to be told


async def _made(function: Function, task: Task) -> AsyncGenerator[Chunk, None]:
    """What a function makes, as chunks, whichever way it was written."""
    making = function(task)
    if isinstance(making, AsyncGenerator):
        async with aclosing(making):
            async for one in making:
                yield _chunk(one)
    else:
        for chunk in _pieces(await making):
            yield chunk


def _chunk(made: Any) -> Chunk:
    if isinstance(made, Chunk):
        return Chunk(list(made.documents), made.cursor, made.cost_micros)
    if isinstance(made, Mapping):
        return Chunk([made])
    return Chunk(list(made))


def _pieces(returned: Any) -> list[Chunk]:
    if returned is None:
        return []
    whole = _chunk(returned)
    documents = list(whole.documents)
    if whole.cursor is not None or len(documents) <= _PIECE:
        return [Chunk(documents, whole.cursor, whole.cost_micros)]
    pieces = [Chunk(documents[first : first + _PIECE]) for first in range(0, len(documents), _PIECE)]
    return [Chunk(pieces[0].documents, None, whole.cost_micros), *pieces[1:]]


def is_function(function: object) -> bool:
    """Whether it can be the function of a task."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
