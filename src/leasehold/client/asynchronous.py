"""The client for code with an event loop; call for call the same as the blocking one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from leasehold import __version__
from leasehold.client import calls, transport
from leasehold.client.calls import Call
from leasehold.client.models import Site

P = ParamSpec("P")
T = TypeVar("T")


class _Resource:
    def __init__(self, client: "AsyncLeasehold") -> None:
        self._client = client


def _sent(make: Callable[P, Call[T]]) -> Callable[Concatenate[_Resource, P], Awaitable[T]]:
    """The method that sends a call; its signature and documentation are the call's own."""

    @wraps(make)
    async def method(self: _Resource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._client.send(make(*args, **kwargs))

    return method


class Sites(_Resource):
    """Places to collect from."""

    create = _sent(calls.create_site)
    get = _sent(calls.get_site)
    page = _sent(calls.list_sites)
    change = _sent(calls.change_site)
    delete = _sent(calls.delete_site)
    move = _sent(calls.move_site)
    pause = _sent(calls.pause_site)
    resume = _sent(calls.resume_site)
    explain = _sent(calls.explain_site)
    rewrite = _sent(calls.rewrite_urls)

    async def all(self) -> AsyncIterator[Site]:
        """Every site, page after page."""
        cursor: str | None = None
        while True:
            page = await self.page(limit=500, cursor=cursor)
            for site in page.items:
                yield site
            cursor = page.next_cursor
            if cursor is None:
                return


class AsyncLeasehold:
    """A leasehold server. Use it as an async context manager, or `close` it."""

    def __init__(self, url: str, token: str, *, timeout_s: float = 60.0, **options: Any) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=transport.headers(token, __version__), timeout=timeout_s, **options
        )
        self.sites = Sites(self)

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is harmless, and read its answer."""
        request = transport.request_for(call)
        for pause_s in transport.pauses(call):
            try:
                answer = await self._http.request(**request)
            except httpx.TransportError:
                await asyncio.sleep(pause_s)
                continue
            if not transport.is_worth_another(answer):
                return transport.read(call, answer)
            await asyncio.sleep(transport.asked_pause(answer, pause_s))
        return transport.read(call, await self._http.request(**request))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()
