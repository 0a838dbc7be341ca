"""A service of somebody else that answers as it should not: for ever, packed to burst, or by sending us elsewhere."""

import gzip
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache

_PIECE = b" " * 0x10000
# What is sent at the most, so that a test that fails does end.
ENOUGH_BYTES = 400 * 1024 * 1024
_UNPACKED_BYTES = 96 * 1024 * 1024


class Manner(StrEnum):
    GOOD = "good"  # what a test says
    ENDLESS_BODY = "endless_body"  # a length that is a lie would be cut off; this has none
    ENDLESS_HEADER = "endless_header"
    ENDLESS_HEADERS = "endless_headers"
    PACKED = "packed"  # a thousand times larger than it looks
    PACKED_TWICE = "packed_twice"  # a million times
    AWAY = "away"  # to another address of this machine
    GARBAGE = "garbage"


class Upstream:
    """What it has, how it behaves, and what came of it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.manner = Manner.GOOD
        self.content = b"{}"
        self.content_type = "application/json"
        self.location = ""
        self.asked = 0
        self.sent_bytes = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def pieces(self) -> Iterator[bytes]:
        kind = f"Content-Type: {self.content_type}\r\n".encode()
        match self.manner:
            case Manner.GOOD:
                yield _whole(kind, self.content)
            case Manner.ENDLESS_BODY:
                yield b"HTTP/1.1 200 OK\r\n" + kind + b"Transfer-Encoding: chunked\r\n\r\n"
                yield from _for_ever(b"10000\r\n" + _PIECE + b"\r\n")
            case Manner.ENDLESS_HEADER:
                yield b"HTTP/1.1 200 OK\r\nX-Endless: "
                yield from _for_ever(b"x" * 0x10000)
            case Manner.ENDLESS_HEADERS:
                yield b"HTTP/1.1 200 OK\r\n"
                yield from _for_ever(b"X-More: x\r\n" * 6000)
            case Manner.PACKED:
                yield _whole(kind + b"Content-Encoding: gzip\r\n", _packed())
            case Manner.PACKED_TWICE:
                yield _whole(kind + b"Content-Encoding: gzip, gzip\r\n", gzip.compress(_packed()))
            case Manner.AWAY:
                yield b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n"  # as it does close it
                yield b"Location: " + self.location.encode() + b"\r\n\r\n"
            case Manner.GARBAGE:
                yield b"\x16\x03\x01 what is this\r\n\r\n"


def _whole(head: bytes, content: bytes) -> bytes:
    length = f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode()
    return b"HTTP/1.1 200 OK\r\n" + head + length + content


def _for_ever(piece: bytes) -> Iterator[bytes]:
    for _ in range(ENOUGH_BYTES // len(piece)):
        yield piece


@cache
def _packed() -> bytes:
    return gzip.compress(bytes(_UNPACKED_BYTES), 1)


@contextmanager
def upstream() -> Iterator[Upstream]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while (line := self.rfile.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.rfile.read(length)
            made.asked += 1
            with suppress(OSError):  # it was enough
                for piece in made.pieces():
                    self.wfile.write(piece)
                    made.sent_bytes += len(piece)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        made = Upstream(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()
