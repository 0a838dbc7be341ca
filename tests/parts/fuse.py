"""A wire to PostgreSQL with a fuse in it: who speaks over it is killed at a step of its work that was chosen before.

The step is a statement, by a piece of its text. `before` kills when the transaction it is in is about to be committed:
nothing of it happened. `after` kills once PostgreSQL has committed and before the answer has gone back: all of it did.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from tests.parts.relay import relay, to_postgres

When = Literal["before", "after"]
_COMMIT = b"COMMIT\0"


@dataclass
class Fuse:
    """Where it listens, and what it waits for."""

    port: int = 0
    blow: Callable[[], None] = lambda: None
    blown: asyncio.Event = field(default_factory=asyncio.Event)
    _needle: bytes | None = None
    _when: When = "before"

    def set(self, statement: str, when: When) -> None:
        self._needle, self._when = statement.encode(), when
        self.blown.clear()

    def is_hit(self, data: bytes) -> bool:
        return self._needle is not None and self._needle in data

    @property
    def when(self) -> When:
        return self._when

    def burn(self) -> None:
        self._needle = None
        self.blow()
        self.blown.set()


class _Line:
    """One connection."""

    def __init__(self, fuse: Fuse, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self._fuse = fuse
        self._near, self._far = near, far
        self._is_armed = False
        self._is_last_answer = False

    async def out(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65536):
            self._is_armed = self._is_armed or self._fuse.is_hit(data)
            if self._is_armed and _COMMIT in data:
                self._is_armed = False
                if self._fuse.when == "before":
                    self._fuse.burn()
                    return
                self._is_last_answer = True
            self._far.write(data)
            await self._far.drain()

    async def back(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65536):
            if self._is_last_answer:
                self._fuse.burn()
                return
            self._near.write(data)
            await self._near.drain()


@asynccontextmanager
async def fused(url: str) -> AsyncIterator[Fuse]:
    """A fuse in front of the PostgreSQL at an address."""
    fuse = Fuse()
    async with relay(to_postgres(url), partial(_Line, fuse)) as fuse.port:
        yield fuse
