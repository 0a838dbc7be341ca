"""The outermost layer: request ids, body limit, time and count of every request, and an answer even to a crash."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leasehold import logs
from leasehold.ids import uuid7
from leasehold.metrics import Metrics
from leasehold.problems import BodyTooLarge, InternalError, MalformedRequest, Problem, Unavailable, answer
from leasehold.tracing import Traces

log = logs.get(__name__)

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}\Z")
_NO_STORE = (b"cache-control", b"no-store")
_HARDENING = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


class Edge:
    """Wraps the app. Everything that goes in or out over HTTP passes here once."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        body_limit_bytes: int,
        larger: Mapping[tuple[str, str], int] = MappingProxyType({}),
        traces: Traces | None = None,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._body_limit_bytes = body_limit_bytes
        # What may bring more than the rest, by method and path: calls that read their bodies as they arrive.
        self._larger = larger
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, send)
        if scope["method"] == "HEAD":  # answered like the GET it stands for, without the body
            scope = {**scope, "method": "GET", "is_head": True}
        scope["request_id"] = exchange.request_id
        try:
            await self._traced(scope, receive, exchange)
        finally:
            self._note(scope, exchange)

    async def _traced(self, scope: Scope, receive: Receive, exchange: "_Exchange") -> None:
        if self._traces is None:
            await self._serve(scope, receive, exchange)
            return
        with self._traces.request(scope) as told:
            try:
                await self._serve(scope, receive, exchange)
            finally:
                told["http.route"] = _route(scope)
                told["http.response.status_code"] = exchange.status or 499
                told["leasehold.request_id"] = exchange.request_id

    async def _serve(self, scope: Scope, receive: Receive, exchange: "_Exchange") -> None:
        if b"%00" in scope.get("raw_path", b"") or b"%00" in scope["query_string"]:
            await exchange.refuse(MalformedRequest("A path or query must not contain the NUL character."), scope)
            return
        try:
            limit_bytes = self._larger.get((scope["method"], scope["path"]), self._body_limit_bytes)
            await self._app(scope, _counted(receive, limit_bytes), exchange.send)
        except asyncio.CancelledError:
            if not exchange.status:  # cut off by the end of the time a stopping server gives
                await exchange.refuse(Unavailable("The server is stopping.", headers={"Retry-After": "2"}), scope)
            raise
        except Exception:
            log.exception("request.crashed", request_id=exchange.request_id)
            if not exchange.status:
                await exchange.refuse(InternalError("Something went wrong on the server; its log says more."), scope)

    def _note(self, scope: Scope, exchange: "_Exchange") -> None:
        route = _route(scope)
        status = str(exchange.status or 499)
        elapsed = time.perf_counter() - exchange.started
        self._metrics.part(self._metrics.requests, scope["method"], route, status).observe(elapsed)
        if exchange.status >= 400:
            self._metrics.part(self._metrics.problems, status).inc()
        log.info(
            "request.served",
            method=scope["method"],
            route=route,
            status=int(status),
            ms=round(elapsed * 1000, 1),
            request_id=exchange.request_id,
            caller=_short(scope.get("caller_token")),
        )


def _route(scope: Scope) -> str:
    """The template, not the path: paths carry ids and would give every one of them a time series of its own."""
    return getattr(scope.get("route"), "path", "(none)")


class _Exchange:
    """One request on its way out: its id, and what was answered."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.started = time.perf_counter()
        self.request_id = _request_id(scope)
        self._is_head = scope["method"] == "HEAD"
        self.status = 0
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._own_headers(message)]
        elif self._is_head:
            message = {**message, "body": b""}
        await self._send(message)

    def _own_headers(self, message: Message) -> list[tuple[bytes, bytes]]:
        mine = [(b"x-request-id", self.request_id.encode()), *_HARDENING]
        if not any(name.lower() == b"cache-control" for name, _ in message.get("headers", [])):
            mine.append(_NO_STORE)
        return mine

    async def refuse(self, problem: Problem, scope: Scope) -> None:
        await answer(problem, self.request_id)(scope, _nothing_more, self.send)


def _request_id(scope: Scope) -> str:
    """The caller's own id when it is one worth repeating, else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given.decode() if _REQUEST_ID.match(given) else uuid7().hex


def _short(token: UUID | None) -> str | None:
    return token.hex if token else None


async def _nothing_more() -> dict[str, Any]:
    return {"type": "http.disconnect"}


def _counted(receive: Receive, limit_bytes: int) -> Callable[[], Awaitable[Message]]:
    """Count bytes as they arrive: what a client says about the length of its body is only its word."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit_bytes:
            raise BodyTooLarge(
                f"The body is larger than {limit_bytes} bytes.",
                limit_bytes=limit_bytes,
                headers={"Connection": "close"},
            )
        return message

    return counted
