"""Crowds of clients over raw sockets: some that watch, some that never read, and some that go away at any moment."""

import asyncio
import json
import random
import socket
import struct
from contextlib import suppress
from typing import Any

PATIENCE_S = 120.0
_UPGRADE = (
    b"GET /v2/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
# What a client that never reads has room for.
_SMALL_BYTES = 4096


def framed(document: Any) -> bytes:
    """A message as a client sends it, behind a mask of zeros."""
    text = json.dumps(document).encode()
    return bytes([0x81, 0xFE, *len(text).to_bytes(2, "big"), 0, 0, 0, 0]) + text


class Watcher(asyncio.Protocol):
    """One socket that watches a run. It keeps only the end of what came: there are thousands."""

    def __init__(self, hello: bytes, *, is_deaf: bool) -> None:
        self._hello = hello
        self._is_deaf = is_deaf
        self._is_open = False
        self._coming = bytearray()
        self._heard = b""
        self._awaited: tuple[bytes, asyncio.Future[None]] | None = None
        self.code: int | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(_UPGRADE)

    def data_received(self, data: bytes) -> None:
        self._coming += data
        if not self._is_open:
            head, between, rest = bytes(self._coming).partition(b"\r\n\r\n")
            if not between:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._is_open, self._coming = True, bytearray(rest)
            self.transport.write(self._hello)
        while frame := _first(self._coming):
            kind, start, end = frame
            self._take(kind, bytes(self._coming[start:end]))
            del self._coming[:end]

    def _take(self, kind: int, content: bytes) -> None:
        match kind:
            case 0x9:
                self.transport.write(bytes([0x8A, 0x80 | len(content), 0, 0, 0, 0]) + content)
            case 0x8:
                self.code = int.from_bytes(content[:2], "big")
                self.transport.close()
            case _:
                self._heard = content[-500:]
                if self._awaited and self._awaited[0] in content:
                    self._awaited[1].set_result(None)
                    self._awaited = None
                    if self._is_deaf:
                        self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        if self._awaited:
            self._awaited[1].set_exception(ConnectionError(f"it was closed with {self.code}"))
            self._awaited = None

    async def hears(self, words: bytes) -> None:
        """Wait until it was told something with these words."""
        if words in self._heard:
            return
        self._awaited = (words, asyncio.get_running_loop().create_future())
        await self._awaited[1]


def _first(coming: bytearray) -> tuple[int, int, int] | None:
    """The kind of the first whole frame, and from where to where its content goes."""
    if len(coming) < 2:
        return None
    size, start = coming[1], 2
    if size >= 126:
        start = 4 if size == 126 else 10
        size = int.from_bytes(coming[2:start], "big")
    end = start + size
    return (coming[0] & 0x0F, start, end) if len(coming) >= max(end, start) else None


async def watch(port: int, ticket: str, run: str, *, is_deaf: bool = False) -> Watcher:
    """A socket that was told where its run is; a deaf one never reads anything after that."""
    loop = asyncio.get_running_loop()
    line = socket.socket()
    line.setblocking(False)
    if is_deaf:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BYTES)
    await loop.sock_connect(line, ("127.0.0.1", port))
    hello = framed({"ticket": ticket, "subscribe": {"run_id": run}})
    _, made = await loop.create_connection(lambda: Watcher(hello, is_deaf=is_deaf), sock=line)
    async with asyncio.timeout(PATIENCE_S):
        await made.hears(b'"snapshot"')
    return made


async def hang_up(port: int, request: bytes, chance: random.Random) -> bool:
    """Ask and go away at a moment that chance decides: within the request, before the answer, or within it.

    Returns whether any of an answer came.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    heard = b""
    is_whole = chance.random() < 0.75
    with suppress(TimeoutError, ConnectionError):
        writer.write(request if is_whole else request[: chance.randrange(len(request))])
        # Some stay until there is something to hear, and go in the middle of it.
        async with asyncio.timeout(chance.choice([0, 0.002, 0.02, 0.2, PATIENCE_S] if is_whole else [0, 0.02])):
            heard = await reader.read(chance.choice([1, 100, 65536]))
    if chance.random() < 0.5:  # at once, and what is on its way is refused
        line = writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return bool(heard)
