"""Serves the app with uvicorn; adds a deadline for slow clients, and problems where it would answer plain text."""

import asyncio
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import orjson
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from leasehold import memory
from leasehold.door import CONNECTION, SOCKET
from leasehold.problems import MEDIA_TYPE, HeadersTooLarge, MalformedRequest, Problem, RequestTimeout
from leasehold.settings import Settings

HEADERS_LIMIT_BYTES = 64 * 1024
BACKLOG = 2048
# A client that is slow but honest gains a second of patience with each of these.
_BYTES_PER_SECOND = 64 * 1024
_LOOK_EVERY_S = 1.0
# What a socket may say at once, and how much of what it is told waits for it.
MESSAGE_LIMIT_BYTES = 64 * 1024
_UNSENT_BYTES = 16 * 1024
_PING_EVERY_S = 15.0
_PONG_WITHIN_S = 20.0
_GOODBYE_S = 2.0
_FILES = 16_384


class _Joined:
    """The connection as one answer sees it: its head waits for what follows at once, and both are sent together."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._has_begun = False
        self._head = b""

    def write(self, data: bytes) -> None:
        if not self._has_begun:
            self._has_begun, self._head = True, data
            self._loop.call_soon(self._send_head)  # should nothing follow yet
        elif self._head:
            head, self._head = self._head, b""
            self._transport.writelines((head, data))
        else:
            self._transport.write(data)

    def close(self) -> None:
        self._send_head()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class Patient(HttpToolsProtocol):
    """uvicorn's protocol, which waits for ever, made to wait only as long as a client makes progress.

    The clock runs while a request is arriving: from the connection, or from the first byte after an answer, until
    its last byte. It stands while the app is the one who is slow.
    """

    patience_s = 10.0
    body_limit_bytes = 16 * 1024 * 1024

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._in_message = False  # a request has begun and not ended
        self._last_word: Problem | None = None  # what is said when the requests before it are answered
        self._begin()
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._last_word:
            return
        if not self._is_arriving:
            self._begin()
        self._received_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_headers and self._received_bytes > HEADERS_LIMIT_BYTES:
            self._refuse(_too_large())
        elif self._is_unwanted and self._received_bytes > self.body_limit_bytes:
            self.transport.close()  # it has its answer; no more of this will ever be read

    def on_message_begin(self) -> None:
        if not self._is_arriving:  # it came in one piece with the request before it
            self._begin()
        self._in_message = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        # They may have come in one piece, too large as they are; raising sends us to send_400_response.
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEADERS_LIMIT_BYTES:
            raise _too_large()
        self.scope[CONNECTION] = self.transport  # type: ignore[typeddict-unknown-key]
        before = self.cycle
        super().on_headers_complete()
        self._in_headers = False
        if self.cycle is not before:  # no upgrade to a socket
            self.cycle.transport = _Joined(self.transport, self.loop)  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        if not self.cycle.body:  # as it came, instead of copied into a buffer and out of it again
            self.cycle.body, body = body, b""  # type: ignore[assignment]
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        self._is_arriving = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._last_word and not self.transport.is_closing():
            self._say(self._last_word)

    def handle_websocket_upgrade(self) -> None:
        self._watch.cancel()  # the socket has a clock of its own
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        raised = sys.exception()
        cause = raised.__context__ if raised else None
        malformed = MalformedRequest("This is not an HTTP request that can be read.")
        self._refuse(cause if isinstance(cause, HeadersTooLarge) else malformed)

    def _begin(self) -> None:
        self._is_arriving = True
        self._in_headers = True
        self._waited_s = 0.0
        self._received_bytes = 0

    @property
    def _broken(self) -> RequestResponseCycle | None:
        """The request whose body is still arriving, if there is one."""
        return self.cycle if self._in_message and not self._in_headers else None

    @property
    def _is_unwanted(self) -> bool:
        return self._broken is not None and self._broken.response_complete

    def _look(self) -> None:
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)
        if not self._is_arriving or self.flow.read_paused or self._last_word:
            return
        self._waited_s += _LOOK_EVERY_S
        if self._waited_s <= self.patience_s + self._received_bytes / _BYTES_PER_SECOND:
            return
        if self._in_message:
            self._refuse(RequestTimeout("The request took too long to arrive."))
        else:
            self.transport.close()  # nothing was asked

    def _refuse(self, problem: Problem) -> None:
        """Answer here and hang up, once the requests that came before are answered."""
        broken = self._broken
        if broken and self.pipeline and self.pipeline[0][0] is broken:
            self.pipeline.popleft()  # it waits for its turn, which will never come
            is_first = False
        else:
            is_first = not self.pipeline and (self.cycle in (None, broken) or self.cycle.response_complete)
        if is_first:
            self._say(problem)
        else:
            self._last_word = problem
            self.flow.pause_reading()

    def _say(self, problem: Problem) -> None:
        # A request that has, or is getting, an answer gets no second one.
        if self._broken is None or not self._broken.response_started:
            body = orjson.dumps(problem.document(None))
            self.transport.write(
                STATUS_LINE[problem.status]
                + b"content-type: " + MEDIA_TYPE.encode()
                + b"\r\ncontent-length: " + str(len(body)).encode()
                + b"\r\nconnection: close\r\n\r\n" + body
            )  # fmt: skip
        self.transport.close()


class Socket(WebSocketsSansIOProtocol):
    """uvicorn's sockets, made to hold little for who reads slowly, and to wait for nobody at the end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=_UNSENT_BYTES)

    async def run_asgi(self) -> None:
        self.scope[SOCKET] = self  # type: ignore[typeddict-unknown-key]
        await super().run_asgi()

    async def write(self, framed: bytes) -> None:
        """Send messages that are framed already. What many are told is framed once and held once, not for each."""
        await self.writable.wait()
        if self.disconnected or self.close_sent:
            raise ClientDisconnected
        self.transport.write(framed)

    def abort(self) -> None:
        self.transport.abort()

    def shutdown(self) -> None:
        super().shutdown()
        self.loop.call_later(_GOODBYE_S, self.transport.abort)  # who does not read would keep the server from ending


def _too_large() -> HeadersTooLarge:
    return HeadersTooLarge(f"The headers are larger than {HEADERS_LIMIT_BYTES} bytes.")


class Server(uvicorn.Server):
    """uvicorn's server; says when it is ready, and at once when it is asked to stop."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stop = on_stop
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._on_ready()

    def stop(self) -> None:
        """Stop as after a signal, from another thread."""
        self._say_so()
        self.should_exit = True

    def _say_so(self) -> None:
        """In the loop, wherever we are: who waits is sent home there."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._on_stop)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._say_so()
        if not self.should_exit:  # impatience changes nothing: the time that is left is bounded already
            super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """The listening socket, bound before anything else is started: a taken port should cost nothing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)  # now, or two servers could both believe the port is theirs
    return listener


def bear_many() -> None:
    """A connection is an open file, and most systems begin with fewer of those than we bear sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # there may be a limit above the limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def make(app: ASGIApp, settings: Settings, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> Server:
    """A server for this app; `run(sockets=[…])` serves until SIGINT or SIGTERM and lets requests under way end."""
    memory.keep_freed()
    bear_many()
    limits = {"patience_s": settings.receive_timeout_seconds, "body_limit_bytes": settings.body_limit_bytes}
    protocol: Any = type("Patient", (Patient,), limits)
    config = uvicorn.Config(
        app,
        http=protocol,
        ws=Socket,
        ws_max_size=MESSAGE_LIMIT_BYTES,
        ws_ping_interval=_PING_EVERY_S,
        ws_ping_timeout=_PONG_WITHIN_S,
        ws_per_message_deflate=False,  # it doubles what a socket takes
        loop="uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=settings.shutdown_timeout_seconds,
        backlog=BACKLOG,
    )
    return Server(config, on_ready, on_stop)
