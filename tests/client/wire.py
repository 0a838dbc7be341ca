"""The line between a worker and its server: it notes what goes over it, and loses or changes what it is told to."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

Change = Callable[[Any], Any]


@dataclass
class Wire:
    """What was sent and answered, by the last word of the path; `options` are for an HttpTransport."""

    sent: list[tuple[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    # How many requests are never delivered, and how many answers are lost.
    cut: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    changed: dict[str, Change] = field(default_factory=dict)
    open: dict[str, asyncio.Event] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        return {"transport": _Line(self), "renewal_transport": lambda: _Line(self)}

    def bodies(self, name: str) -> list[Any]:
        return [body for sent, body in self.sent if sent == name]

    @property
    def results(self) -> list[Any]:
        """Every result that was sent, in order."""
        return [item for body in self.bodies("results") for item in body["items"]]


class _Line(httpx.AsyncBaseTransport):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._way = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        self._wire.sent.append((name, json.loads(await request.aread() or b"null")))
        self._wire.keys.append(request.headers.get("Idempotency-Key"))
        if name in self._wire.open:
            await self._wire.open[name].wait()
        if _is_due(self._wire.cut, name):
            raise httpx.ConnectError("the line is cut")
        answer = await self._way.handle_async_request(request)
        content = await answer.aread()
        await answer.aclose()
        if _is_due(self._wire.lost, name):
            raise httpx.ReadError("the answer is lost")
        if name in self._wire.changed and answer.is_success:
            content = json.dumps(self._wire.changed[name](json.loads(content))).encode()
        headers = {"Content-Type": answer.headers.get("Content-Type", "")}
        return httpx.Response(answer.status_code, headers=headers, content=content, request=request)

    async def aclose(self) -> None:
        await self._way.aclose()


def _is_due(plan: dict[str, int], name: str) -> bool:
    left = plan.get(name, 0)
    plan[name] = left - 1
    return left > 0
