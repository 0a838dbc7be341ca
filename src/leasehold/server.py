"""Serves the app with uvicorn; adds a deadline for slow clients, and problems where it would answer plain text."""

import asyncio
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import orjson
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from leasehold.problems import MEDIA_TYPE, HeadersTooLarge, MalformedRequest, Problem, RequestTimeout
from leasehold.settings import Settings

HEADERS_LIMIT_BYTES = 64 * 1024
# A client that is slow but honest gains a second of patience with each of these.
_BYTES_PER_SECOND = 64 * 1024
_LOOK_EVERY_S = 1.0


class Patient(HttpToolsProtocol):
    """uvicorn's protocol, which waits for ever, made to wait only as long as a client makes progress.

    The clock runs while a request is arriving: from the connection, or from the first byte after an answer, until
    its last byte. It stands while the app is the one who is slow.
    """

    patience_s = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_arriving = True
        self._in_headers = True
        self._waited_s = 0.0
        self._received_bytes = 0
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_arriving:
            self._is_arriving, self._in_headers = True, True
            self._waited_s, self._received_bytes = 0.0, 0
        self._received_bytes += len(data)
        super().data_received(data)
        if self._in_headers and self._received_bytes > HEADERS_LIMIT_BYTES and not self.transport.is_closing():
            self._refuse(HeadersTooLarge(f"The headers are larger than {HEADERS_LIMIT_BYTES} bytes."))

    def on_headers_complete(self) -> None:
        self._in_headers = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_arriving = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(MalformedRequest("This is not an HTTP request that can be read."))

    def _look(self) -> None:
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)
        if not self._is_arriving or self.flow.read_paused:
            return
        self._waited_s += _LOOK_EVERY_S
        if self._waited_s > self.patience_s + self._received_bytes / _BYTES_PER_SECOND:
            self._refuse(RequestTimeout("The request took too long to arrive."))

    def _refuse(self, problem: Problem) -> None:
        """Answer here and hang up; says nothing where an answer is on its way or nothing was ever asked."""
        answering = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if self._received_bytes and not answering:
            body = orjson.dumps(problem.document(None))
            self.transport.write(
                STATUS_LINE[problem.status]
                + b"content-type: " + MEDIA_TYPE.encode()
                + b"\r\ncontent-length: " + str(len(body)).encode()
                + b"\r\nconnection: close\r\n\r\n" + body
            )  # fmt: skip
        self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server; says when it is ready, and at once when it is asked to stop."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_stop()
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """The listening socket, bound before anything else is started: a taken port should cost nothing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def make(app: ASGIApp, settings: Settings, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> Server:
    """A server for this app; `run(sockets=[…])` serves until SIGINT or SIGTERM and lets requests under way end."""
    protocol: Any = type("Patient", (Patient,), {"patience_s": settings.receive_timeout_seconds})
    config = uvicorn.Config(
        app,
        http=protocol,
        loop="uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=settings.shutdown_timeout_seconds,
        backlog=2048,
    )
    return Server(config, on_ready, on_stop)
