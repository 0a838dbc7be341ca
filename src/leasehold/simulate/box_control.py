"""How simulated boxes behave just now, what changes in them on demand, and every request they got."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from email.utils import format_datetime
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.simulate.boxes import THEPORNDB, Box, Clock
from leasehold.simulate.control import HELD_S, RETRY_AFTER_S, Mode, answer


@dataclass(slots=True)
class Manner:
    """How one box behaves."""

    mode: Mode = Mode.OK
    retry_after_s: int = RETRY_AFTER_S
    times: int | None = None  # so many requests more; then it is well again
    most_per_page: int | None = None  # asked for more, it gives this many

    def spent(self) -> Mode:
        """The mode of this request; one that was limited ends by itself."""
        mode = self.mode
        if self.times is not None:
            self.times -= 1
            if self.times <= 0:
                self.mode, self.times = Mode.OK, None
        return mode


@dataclass(slots=True)
class BoxControl:
    """What `/control` sets, changes and shows."""

    boxes: dict[str, Box]
    clock: Clock
    latency_ms: int = 0
    slow_ms: int = 3000
    manners: dict[str, Manner] = field(default_factory=dict)
    requests: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.boxes, THEPORNDB):
            self.manners[name], self.requests[name] = Manner(), Counter()

    def routes(self) -> list[Route]:
        return [
            Route("/control", self._set, methods=["PUT"]),
            Route("/control", self._shown, methods=["GET"]),
            Route("/control/requests", self._counts, methods=["GET"]),
            Route("/control/requests", self._clear, methods=["DELETE"]),
        ]

    async def met(self, box: str, what: str) -> Response | None:
        """Count a request and take as long as it takes; the refusal, when there is to be one."""
        self.clock.seconds += 1
        self.requests[box][what] += 1
        manner = self.manners[box]
        mode = manner.spent()
        while mode is Mode.HOLD:
            await asyncio.sleep(HELD_S)
            mode = manner.mode
        late_ms = self.latency_ms + (self.slow_ms if mode is Mode.SLOW else 0)
        if late_ms:
            await asyncio.sleep(late_ms / 1000)
        match mode:
            case Mode.DOWN:
                return answer({"message": "Service Unavailable"}, 503)
            case Mode.RATE_LIMITED:
                document = {"errors": [{"message": "Too Many Attempts."}]}
                return answer(document, 429, Retry_After=str(manner.retry_after_s))
        return None

    @property
    def date(self) -> str:
        return format_datetime(self.clock.now(), usegmt=True)

    async def _set(self, request: Request) -> Response:
        try:
            told = orjson.loads(await request.body())
            box = told.pop("box")
            manner = self.manners[box]
            self._change(box, manner, told)
        except (ValueError, LookupError, TypeError, AttributeError):
            wish = (
                "{box, mode?, times?, retry_after_seconds?, most_per_page?, delete?, merge?, touch?, spoil?, create?}"
            )
            return answer({"detail": f"Send JSON: {wish}. Boxes are {', '.join(self.manners)}."}, 422)
        return await self._shown(request)

    def _change(self, box: str, manner: Manner, told: dict[str, Any]) -> None:
        known = {"mode", "times", "retry_after_seconds", "most_per_page", "delete", "merge", "touch", "spoil", "create"}
        if not told.keys() <= known:
            raise ValueError("unknown")
        if "mode" in told:
            manner.mode, manner.times = Mode(told["mode"]), told.get("times")
        manner.retry_after_s = int(told.get("retry_after_seconds", manner.retry_after_s))
        manner.most_per_page = told.get("most_per_page", manner.most_per_page)
        self.clock.seconds += 1
        for act in ("delete", "touch", "spoil"):
            if performer := told.get(act):
                getattr(self.boxes[box], act)(performer)
        if merge := told.get("merge"):
            self.boxes[box].merge(merge["from"], merge["into"])
        if new := told.get("create"):
            self.boxes[box].create(new["id"], new["name"])

    async def _shown(self, _request: Request) -> Response:
        return answer({name: {"mode": manner.mode, "times": manner.times} for name, manner in self.manners.items()})

    async def _counts(self, _request: Request) -> Response:
        return answer({"total": sum(one.total() for one in self.requests.values()), **self.requests})

    async def _clear(self, _request: Request) -> Response:
        for one in self.requests.values():
            one.clear()
        return Response(status_code=204)
