"""Takes the body of an upload off the wire: the event loop receives while a thread parses, hashes and writes."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from leasehold.captures.meta import MetaIn
from leasehold.captures.multipart import Reader

# What may wait in memory while the thread is busy; after that the client has to.
_MOST_WAITING_BYTES = 2 * 1024 * 1024
# Less than this is not worth waking the thread for.
_WORTH_A_TURN_BYTES = 512 * 1024
# Uploads that are read at once; others wait with their bytes still on the wire.
_AT_ONCE = 32
_THREADS = 8


class Intake:
    """All uploads of one process."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="captures")
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def run(self, work: Callable[..., Any], *given: object) -> Any:
        """Do something that blocks, in a thread that is not the event loop's."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    async def read(
        self, body: AsyncIterable[bytes], reader: Reader, admit: Callable[[MetaIn], Awaitable[None]]
    ) -> MetaIn:
        """Read a body to its end. `admit` is asked as soon as it is known what the upload is about."""
        async with self._turns:
            return await self._read(body, reader, admit)

    async def _read(
        self, body: AsyncIterable[bytes], reader: Reader, admit: Callable[[MetaIn], Awaitable[None]]
    ) -> MetaIn:
        loop = asyncio.get_running_loop()
        waiting: list[bytes] = []
        waiting_bytes = 0
        feeding: asyncio.Future[None] | None = None
        is_admitted = False
        async for chunk in body:
            waiting.append(chunk)
            waiting_bytes += len(chunk)
            is_busy = feeding is not None and not feeding.done()
            if waiting_bytes < (_MOST_WAITING_BYTES if is_busy else _WORTH_A_TURN_BYTES):
                continue
            if feeding is not None:
                await feeding
            if reader.meta is not None and not is_admitted:
                is_admitted = True
                await admit(reader.meta)
            feeding = loop.run_in_executor(self._threads, reader.feed, waiting)
            waiting, waiting_bytes = [], 0
        if feeding is not None:
            await feeding
        await self.run(reader.feed, waiting)
        return reader.end()

    def close(self) -> None:
        self._threads.shutdown(wait=True)
