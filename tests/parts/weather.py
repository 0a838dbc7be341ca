"""A wire on which the weather changes: what goes over it is held back, lost, late, in crumbs, or cut off."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import partial

from tests.parts.relay import Reader, Writer, relay, to_postgres

_COMMIT = b"COMMIT\0"
_LATE_S = (0.0, 0.2)
# So much goes byte by byte, and the rest in larger pieces: enough to cut through every header.
_CRUMBS = 64


class Weather(StrEnum):
    FAIR = "fair"
    SILENT = "silent"  # a black hole: all is taken, nothing goes on, either way, until it is over
    DEAF = "deaf"  # what is asked arrives, and no answer comes back; who waited for one is cut off when it is over
    CUT = "cut"  # to PostgreSQL: a line is cut once what was asked is committed, before anybody is told
    SLOW = "slow"  # late, and in crumbs


class Sky:
    """The weather of all lines behind one port."""

    def __init__(self) -> None:
        self.port = 0
        self.now = Weather.FAIR
        # What became of how much.
        self.felt: Counter[Weather] = Counter()
        self.chance = random.Random(0)  # noqa: S311
        self._changed = asyncio.Event()

    def turn(self, weather: Weather) -> None:
        self.now = weather
        self._changed.set()
        self._changed = asyncio.Event()

    async def until_it_changes(self) -> None:
        await self._changed.wait()

    async def through(self, data: bytes, writer: Writer) -> None:
        """Send it on, as far as the weather lets it."""
        while self.now is Weather.SILENT:
            self.felt[Weather.SILENT] += 1
            await self.until_it_changes()
        if self.now is Weather.SLOW:
            self.felt[Weather.SLOW] += 1
            await asyncio.sleep(self.chance.uniform(*_LATE_S))
            for crumb in self._crumbs(data):
                writer.write(crumb)
                await writer.drain()
            return
        writer.write(data)
        await writer.drain()

    def _crumbs(self, data: bytes) -> Iterator[bytes]:
        yield from (data[at : at + 1] for at in range(min(len(data), _CRUMBS)))
        at = _CRUMBS
        while at < len(data):
            size = self.chance.randint(1, 1400)
            yield data[at : at + size]
            at += size


class _Line:
    """One connection."""

    def __init__(self, sky: Sky, near: Writer, far: Writer) -> None:
        self._sky = sky
        self._near, self._far = near, far
        self._is_last_answer = False

    async def out(self, reader: Reader) -> None:
        while data := await reader.read(65536):
            self._is_last_answer = self._sky.now is Weather.CUT and _COMMIT in data
            await self._sky.through(data, self._far)

    async def back(self, reader: Reader) -> None:
        while data := await reader.read(65536):
            if self._is_last_answer:
                self._sky.felt[Weather.CUT] += 1
                return
            if self._sky.now is Weather.DEAF:
                self._sky.felt[Weather.DEAF] += 1
                await self._sky.until_it_changes()
                return
            await self._sky.through(data, self._near)


@asynccontextmanager
async def over(port: int) -> AsyncIterator[Sky]:
    """A sky over the way to whoever listens at a port."""
    sky = Sky()
    async with relay(lambda: asyncio.open_connection("127.0.0.1", port), partial(_Line, sky)) as sky.port:
        yield sky


@asynccontextmanager
async def over_postgres(url: str) -> AsyncIterator[Sky]:
    """A sky over the way to the PostgreSQL at an address."""
    sky = Sky()
    async with relay(to_postgres(url), partial(_Line, sky)) as sky.port:
        yield sky
