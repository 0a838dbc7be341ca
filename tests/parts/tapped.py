"""A wire to a server with a fuse in it that knows the language: who speaks over it is killed at a word chosen before.

`before` kills when the word is about to leave: the server never hears it. `after` kills once the server has it and
before its answer, if it gives one, has gone back. `swallowed` kills nobody: the word is lost and the line is cut, and
who spoke it believes it was heard.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.parts.relay import Writer, relay

When = Literal["before", "after", "swallowed"]


@dataclass(frozen=True, slots=True)
class Word:
    """Something that is said whole or not at all."""

    raw: bytes
    # What it is about, to choose it by; empty where nobody would.
    text: str = ""
    # The number that an answer to it has, by channel; 0 where there is none.
    place: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Answer:
    """Something that the server says: to words, or by itself."""

    raw: bytes
    channel: int = 0
    numbers: range = range(0)

    def is_to(self, word: Word) -> bool:
        channel, number = word.place
        return channel == self.channel and number in self.numbers


class Language(Protocol):
    """What goes over one connection, both ways. Bytes come in as they come; words come out whole."""

    def said(self, data: bytes) -> list[Word]: ...
    def heard(self, data: bytes) -> list[Answer]: ...


@dataclass
class Tap:
    """Where it listens, and what it waits for."""

    port: int = 0
    blow: Callable[[], None] = lambda: None
    blown: asyncio.Event = field(default_factory=asyncio.Event)
    when: When = "before"
    _pieces: tuple[str, ...] = ()

    def set(self, when: When, *pieces: str) -> None:
        """Wait for a word that has all of these in it."""
        self.when, self._pieces = when, pieces
        self.blown.clear()

    def is_hit(self, word: Word) -> bool:
        """Once."""
        is_hit = bool(self._pieces) and all(piece in word.text for piece in self._pieces)
        if is_hit:
            self._pieces = ()
        return is_hit

    def burn(self) -> None:
        if self.when != "swallowed":
            self.blow()
        self.blown.set()


class _Line:
    """One connection."""

    def __init__(self, tap: Tap, language: Language, near: Writer, far: Writer) -> None:
        self._tap, self._language = tap, language
        self._near, self._far = near, far
        self._asked: Word | None = None

    async def out(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65536):
            for word in self._language.said(data):
                is_hit = self._tap.is_hit(word)
                if is_hit and self._tap.when != "after":
                    return self._tap.burn()
                self._far.write(word.raw)
                if is_hit and not word.place[1]:
                    await self._far.drain()
                    return self._tap.burn()  # nothing will be said to it; it is read before the end of the line is
                self._asked = word if is_hit else self._asked
            await self._far.drain()
        return None

    async def back(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65536):
            for answer in self._language.heard(data):
                if self._asked is not None and answer.is_to(self._asked):
                    return self._tap.burn()
                self._near.write(answer.raw)
            await self._near.drain()
        return None


@asynccontextmanager
async def tapped(port: int, language: Callable[[], Language]) -> AsyncIterator[Tap]:
    """A tap in front of the server at a port."""
    tap = Tap()

    def line(near: Writer, far: Writer) -> _Line:
        return _Line(tap, language(), near, far)

    async with relay(lambda: asyncio.open_connection("127.0.0.1", port), line) as tap.port:
        yield tap
