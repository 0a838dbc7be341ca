"""The client for code without an event loop."""

import time
from collections.abc import Callable, Iterator
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
    def __init__(self, client: "Leasehold") -> None:
        self._client = client


def _sent(make: Callable[P, Call[T]]) -> Callable[Concatenate[_Resource, P], T]:
    """The method that sends a call; its signature and documentation are the call's own."""

    @wraps(make)
    def method(self: _Resource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._client.send(make(*args, **kwargs))

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

    def all(self) -> Iterator[Site]:
        """Every site, page after page."""
        cursor: str | None = None
        while True:
            page = self.page(limit=500, cursor=cursor)
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return


class Leasehold:
    """A leasehold server. Use it as a context manager, or `close` it."""

    def __init__(self, url: str, token: str, *, timeout_s: float = 60.0, **options: Any) -> None:
        self._http = httpx.Client(
            base_url=url, headers=transport.headers(token, __version__), timeout=timeout_s, **options
        )
        self.sites = Sites(self)

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is harmless, and read its answer."""
        request = transport.request_for(call)
        for pause_s in transport.pauses(call):
            try:
                answer = self._http.request(**request)
            except httpx.TransportError:
                time.sleep(pause_s)
                continue
            if not transport.is_worth_another(answer):
                return transport.read(call, answer)
            time.sleep(transport.asked_pause(answer, pause_s))
        return transport.read(call, self._http.request(**request))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()
