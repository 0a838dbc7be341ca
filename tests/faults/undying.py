"""A process of ours that is begun again whenever it dies, and who asks it again whatever happens to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from leasehold.writers.stream import GROUP, STREAM
from tests.parts.postgres import TestDatabase
from tests.parts.process import Leasehold, Place
from tests.parts.redis import RedisServer

# Generous: it is only used up when something is broken.
PATIENCE_S = 120


class Undying:
    """The process, whichever of its lives it is in."""

    def __init__(self, here: Place, words: tuple[str, ...], environment: dict[str, str]) -> None:
        self._here, self._words, self._environment = here, words, environment
        self.starts = 0
        self._running: Leasehold | None = None

    def kill(self) -> None:
        if self._running is not None:
            self._running.process.kill()

    async def keep_up(self) -> None:
        while True:
            if self._running is None or self._running.process.poll() is not None:
                self._running = self._here.start(*self._words, **self._environment)
                self.starts += 1
            await asyncio.sleep(0.02)


@asynccontextmanager
async def undying(here: Place, *words: str, **environment: str) -> AsyncIterator[Undying]:
    """A command of ours that does not stay dead before the end."""
    made = Undying(here, words, environment)
    keeper = asyncio.create_task(made.keep_up())
    try:
        yield made
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        made.kill()


async def until(look: Callable[[], Awaitable[Any]]) -> Any:
    """Ask again and again, whatever happens to the server, until there is something."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                if found := await look():
                    return found
            except (httpx.HTTPError, AssertionError):
                pass  # it is down, or comes up just now
            await asyncio.sleep(0.02)


def long_gone(database: TestDatabase) -> None:
    """As if who died had been dead for a while: what it waited for, somebody else may have."""
    database.run("UPDATE waiter SET refreshed_at = refreshed_at - interval '1 minute'")


def run_out(database: TestDatabase) -> None:
    """As if the lease of every task that came to nobody had run out."""
    unpublished = "(SELECT lease FROM task WHERE lease IS NOT NULL AND published_at IS NULL)"
    database.run(f"UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE id IN {unpublished}")
    database.run(f"UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE lease IN {unpublished}")


def taken_over(redis: RedisServer) -> bool:
    """As if what a data-writer took out of the stream had lain with it for long; whether anything is in the stream."""
    with redis.client() as client:
        if not client.exists(STREAM):
            return False
        for one in client.xpending_range(STREAM, GROUP, "-", "+", 10):
            if one["consumer"] != b"aged":
                client.xclaim(STREAM, GROUP, "aged", 0, [one["message_id"]], idle=60_000)
        return bool(client.xlen(STREAM))
