"""Bytes that no client sends, on a connection and on a live socket: answered or hung up on, and nobody else notices."""

import asyncio
import base64
import gc
import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import repeat

import httpx
import psutil
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from tests.live.conftest import category
from tests.parts.listening import PATIENCE_S, Listening, listening
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What a process may grow by and still be said to have kept nothing.
SPARE_BYTES = 50 * 1024 * 1024
MANY = 100_000
CONTINUED, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(_worker_database: TestDatabase) -> AsyncIterator[Listening]:
    _worker_database.empty()
    async with listening(_worker_database) as made:
        client = await made.caller()
        plan = {"collector": "amazon", "categories": [await category(client)]}
        (await client.post("/v2/runs", json=plan)).raise_for_status()  # something to tell
        yield made


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def _lives_on(server: Listening) -> AsyncIterator[None]:
    """Whatever came, the next is served, over HTTP and on a socket, and nothing was kept."""
    client = await server.caller()
    await is_served(server, client)
    gc.collect()
    before = psutil.Process().memory_info().rss
    yield
    await is_served(server, client)
    gc.collect()
    assert psutil.Process().memory_info().rss - before < SPARE_BYTES


async def is_served(server: Listening, client: httpx.AsyncClient) -> None:
    assert (await client.get("/v2/sites")).status_code == 200
    ticket = (await client.post("/v2/live/tickets")).json()["ticket"]
    async with connect(f"ws://127.0.0.1:{server.port}/v2/live", proxy=None) as socket, asyncio.timeout(PATIENCE_S):
        await socket.send(json.dumps({"ticket": ticket, "subscribe": {}}))
        while json.loads(await socket.recv())["type"] != "snapshot":
            pass


async def told(server: Listening, said: Iterator[bytes], is_over: bool = False) -> bytes:
    """Send one piece after the other until the server hangs up; returns all that it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    got = bytearray()

    async def hear() -> None:
        with suppress(ConnectionError):
            while more := await reader.read(65536):
                got.extend(more)

    async with asyncio.timeout(PATIENCE_S):
        hearing = asyncio.create_task(hear())
        with suppress(ConnectionError):
            for piece in said:
                if hearing.done():
                    break
                writer.write(piece)
                await writer.drain()
                while b"Upgrade: websocket" in piece and b"\r\n\r\n" not in got and not hearing.done():
                    await asyncio.sleep(0.005)  # nothing is sent before the server has agreed
            if is_over:
                writer.write_eof()
        await hearing
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return bytes(got)


BODY = b'{"slug": "one", "domain": "one.example"}'
COOKIES = b"".join(b"Cookie: c%d=%s\r\n" % (number, b"v" * 100) for number in range(100))
REQUESTS: dict[str, tuple[bytes, set[int]]] = {
    "a coding nobody knows": (
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        {400, 401},
    ),
    "two codings": (
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        {400, 401},
    ),
    "HTTP/0.9": (b"GET /healthz\r\n\r\n", {200, 400}),
    "HTTP/9.9": (b"GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n", {400}),
    "lines that end early": (b"GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\n", {200, 400}),
    "lines that end twice": (b"GET /healthz HTTP/1.1\r\r\nHost: x\r\r\nConnection: close\r\r\n\r\r\n", {400}),
    "a header over two lines": (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: a\r\n b\r\nConnection: close\r\n\r\n",
        {200, 400},
    ),
    "a space before the colon": (
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\nConnection: close\r\n\r\nhello",
        {400, 401},
    ),
    "a zero in a header": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Zero: a\0b\r\nConnection: close\r\n\r\n", {400}),
    "two lengths": (
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        {400},
    ),
    "two hosts": (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n", {200, 400}),
    "a chunk longer than any": (
        b"POST /v2/sites HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n",
        {400, 401},
    ),
    "a hundred cookies": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + COOKIES + b"Connection: close\r\n\r\n", {200}),
}


@pytest.mark.parametrize("request_", REQUESTS)
async def test_what_is_hardly_http_is_answered(server: Listening, request_: str) -> None:
    said, statuses = REQUESTS[request_]

    answer = await told(server, iter([said]), is_over=True)

    answers = [int(one[:3]) for one in answer.split(b"HTTP/1.1 ")[1:]]
    assert answers
    assert set(answers) <= statuses | {400}, answer


async def test_the_same_key_twice_makes_nothing_twice(server: Listening) -> None:
    client = await server.caller(organisation="twice")
    body = BODY[:-1] + b', "slug": "two"}'

    answer = await client.post("/v2/sites", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code < 500
    assert len((await client.get("/v2/sites")).json()["items"]) == answer.is_success


def opening(*headers: str) -> bytes:
    key = base64.b64encode(b"0123456789abcdef").decode()
    lines = ["GET /v2/live HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade"]
    return "\r\n".join([*lines, f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]).encode()


def frame(
    kind: int, content: bytes = b"", *, is_last: bool = True, is_packed: bool = False, masked: bool = True
) -> bytes:
    first = kind | (0x80 if is_last else 0) | (0x40 if is_packed else 0)
    mask = 0x80 if masked else 0
    if len(content) < 126:
        head = struct.pack("!BB", first, mask | len(content))
    elif len(content) < 65536:
        head = struct.pack("!BBH", first, mask | 126, len(content))
    else:
        head = struct.pack("!BBQ", first, mask | 127, len(content))
    return head + (bytes(4) if masked else b"") + content  # a mask of zeros changes nothing


def frames(said: bytes) -> list[tuple[int, bytes]]:
    """What the server sent after its yes to a socket: kinds and contents."""
    head, _, rest = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 "), said
    assert b"sec-websocket-extensions" not in head.lower()
    found = []
    while len(rest) >= 2:
        length, begin = rest[1] & 0x7F, 2
        if length == 126:
            length, begin = struct.unpack("!H", rest[2:4])[0], 4
        elif length == 127:
            length, begin = struct.unpack("!Q", rest[2:10])[0], 10
        found.append((rest[0] & 0x0F, rest[begin : begin + length]))
        rest = rest[begin + length :]
    return found


def code_of(said: bytes) -> int | None:
    """With what the server closed the socket; nothing when it gave no reason."""
    kind, content = frames(said)[-1]
    assert kind == CLOSE, said[-200:]
    return struct.unpack("!H", content[:2])[0] if content else None


BOMB = zlib.compress(b"a" * 50_000_000)[2:-4]
WRONG, UNREADABLE, FORBIDDEN, TOO_LARGE = 1002, 1007, 1008, 1009
FRAMES: dict[str, tuple[list[bytes], int]] = {
    "a frame of 16 MB": ([frame(TEXT, b"a" * 16_000_000)], TOO_LARGE),
    "a frame that says it is larger than memory": ([struct.pack("!BBQ", 0x81, 0xFF, 2**62)], TOO_LARGE),
    "half a character": ([frame(TEXT, b'{"ticket": "\xff"}')], UNREADABLE),
    "half a character that never ends": (
        [frame(TEXT, b"\xf0\x9f", is_last=False), frame(CONTINUED, b"{}")],
        UNREADABLE,
    ),
    "packed, which nobody agreed to": ([frame(TEXT, BOMB, is_packed=True)], WRONG),
    "a kind nobody knows": ([frame(3, b"a")], WRONG),
    "a rest of nothing": ([frame(CONTINUED, b"a")], WRONG),
    "a beginning within another": ([frame(TEXT, b"a", is_last=False), frame(TEXT, b"b")], WRONG),
    "not masked": ([frame(TEXT, b"{}", masked=False)], WRONG),
    "a ping in pieces": ([frame(PING, b"a", is_last=False)], WRONG),
    "a large ping": ([frame(PING, b"a" * 126)], WRONG),
    "a code that must not be sent": ([frame(CLOSE, struct.pack("!H", 1005))], WRONG),
    "half a code": ([frame(CLOSE, b"\x03")], WRONG),
    "an odd reason": ([frame(CLOSE, struct.pack("!H", 1000) + b"\xff")], UNREADABLE),
    "deep": ([frame(TEXT, b"[" * 60_000)], FORBIDDEN),
    "the same key twice": ([frame(TEXT, b'{"ticket": "a", "ticket": "b", "subscribe": {}}')], FORBIDDEN),
}


@pytest.mark.parametrize("what", FRAMES)
async def test_what_no_client_says_closes_its_socket(server: Listening, what: str) -> None:
    said, code = FRAMES[what]

    answer = await told(server, iter([opening("Sec-WebSocket-Extensions: permessage-deflate"), *said]))

    assert code_of(answer) == code


async def test_pieces_without_end_are_too_large(server: Listening) -> None:
    pieces = [opening(), frame(TEXT, b"a", is_last=False)]

    answer = await told(server, iter([*pieces, *repeat(frame(CONTINUED, b"a" * 100, is_last=False), MANY)]))

    assert code_of(answer) == TOO_LARGE


async def test_a_flood_of_pings_is_borne(server: Listening) -> None:
    answer = await told(server, iter([opening(), *repeat(frame(PING, b"a" * 125), 20_000), frame(TEXT, b"{}")]))

    assert {kind for kind, _ in frames(answer)} == {PONG, CLOSE}
    assert code_of(answer) == FORBIDDEN


async def test_who_closes_without_a_code_is_answered(server: Listening) -> None:
    answer = await told(server, iter([opening(), frame(CLOSE)]))

    assert [kind for kind, _ in frames(answer)] == [CLOSE]
