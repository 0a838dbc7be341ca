"""Many live sockets on one run, in a process of its own: raw frames, so that watching costs little."""

import argparse
import asyncio
import json
import time
from datetime import datetime
from functools import partial
from typing import Any, cast

import orjson
import psutil
import uvloop

from bench.load import Connection
from bench.zero import CATEGORY, Zero

_AT_ONCE = 20
_PATIENCE_S = 240.0


class Watcher(asyncio.Protocol):
    """One socket. Notes how late each event is, by the time that is written in it."""

    def __init__(self, hello: bytes) -> None:
        self._hello = hello
        self._came = bytearray()
        self._is_open = False
        self.late_s: list[float] = []
        self.numbers: dict[str, list[int]] = {"items": [], "progress": []}
        self.begun = asyncio.get_running_loop().create_future()
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one but in name
        self._transport.write(
            b"GET /v2/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )

    def connection_lost(self, exc: Exception | None) -> None:
        for waits in (self.begun, self.over):
            if not waits.done():
                waits.set_exception(RuntimeError(f"the server hung up: {bytes(self._came[:200])!r}"))

    def data_received(self, data: bytes) -> None:
        self._came += data
        if not self._is_open:
            head, found, rest = bytes(self._came).partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head[:20]:
                raise RuntimeError(head.decode())
            self._is_open = True
            self._came = bytearray(rest)
            size = len(self._hello)
            self._transport.write(bytes([0x81, 0xFE, *size.to_bytes(2, "big"), 0, 0, 0, 0]) + self._hello)
        self._frames(time.time())

    def _frames(self, now: float) -> None:
        while (frame := self._frame()) is not None:
            opcode, text = frame
            if opcode == 9:
                self._transport.write(bytes([0x8A, 0x80 | len(text), 0, 0, 0, 0]) + text)
            elif opcode == 1:
                self._message(text, now)

    def _frame(self) -> tuple[int, bytes] | None:
        came = self._came
        if len(came) < 2:
            return None
        start, size = 2, came[1]
        if size == 126:
            start, size = 4, int.from_bytes(came[2:4], "big")
        elif size == 127:
            start, size = 10, int.from_bytes(came[2:10], "big")
        if len(came) < max(start, start + size):
            return None
        opcode, text = came[0] & 15, bytes(came[start : start + size])
        del came[: start + size]
        return opcode, text

    def _message(self, text: bytes, now: float) -> None:
        if b'"snapshot"' in text[:60]:
            self.begun.set_result(None)
            return
        # What tells events apart comes last in each; the items before it are not of interest here.
        tail = orjson.loads(b"{" + text[text.rfind(b'"seq":') :]) if b'"seq":' in text else {}
        if not tail:
            return
        self.late_s.append(now - datetime.fromisoformat(tail["at"]).timestamp())
        self.numbers.setdefault(tail["type"], []).append(tail["seq"])
        if tail["type"] == "completed":
            self.over.set_result(None)


async def ask(connection: Connection, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    status, answer = await connection.post(path, orjson.dumps(body) if body is not None else b"")
    if status >= 300:
        raise RuntimeError(answer.decode())
    found: dict[str, Any] = orjson.loads(answer)
    return found


async def watch(given: argparse.Namespace) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    server = psutil.Process(given.server)
    connection = Connection("127.0.0.1", given.port, given.token)
    await connection.open()
    run = (await ask(connection, "/v2/runs", {"collector": Zero.slug, "categories": [CATEGORY]}))["id"]
    before = server.memory_info().rss
    watchers: list[Watcher] = []

    async def begin(share: int) -> None:
        own = Connection("127.0.0.1", given.port, given.token)
        await own.open()
        for _ in range(share):
            ticket = (await ask(own, "/v2/live/tickets"))["ticket"]
            hello = orjson.dumps({"ticket": ticket, "subscribe": {"run_id": run}})
            _, made = await loop.create_connection(partial(Watcher, hello), "127.0.0.1", given.port)
            watchers.append(made)
            await made.begun
        own.close()

    shares = [given.sockets // _AT_ONCE + (n < given.sockets % _AT_ONCE) for n in range(_AT_ONCE)]
    await asyncio.gather(*(begin(share) for share in shares))
    peak = server.memory_info().rss
    opened = peak - before
    await connection.open()  # the server hung up meanwhile: nothing was asked by it for seconds
    await ask(connection, f"/v2/runs/{run}/start")
    async with asyncio.timeout(_PATIENCE_S):
        waiting = asyncio.gather(*(watcher.over for watcher in watchers))
        while not waiting.done():
            peak = max(peak, server.memory_info().rss)
            await asyncio.wait({waiting}, timeout=0.5)
        await waiting
    every = [watcher.numbers["items"] for watcher in watchers]
    if any(numbers != every[0] for numbers in every):
        raise RuntimeError("not every socket heard the same")
    late = sorted(second for watcher in watchers for second in watcher.late_s)
    return {
        "events": len(every[0]),
        "messages": len(late),
        "p50_s": late[len(late) // 2],
        "p99_s": late[int(len(late) * 0.99)],
        "worst_s": late[-1],
        "opened_mb": opened / 1e6,
        "added_mb": (peak - before) / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, kind in (("port", int), ("token", str), ("sockets", int), ("server", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    print(json.dumps(uvloop.run(watch(parser.parse_args()))))


if __name__ == "__main__":
    main()
