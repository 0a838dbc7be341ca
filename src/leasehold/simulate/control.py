"""How the simulated providers behave just now, and every request they would want money for."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

RETRY_AFTER_S = 2
# How often what is held looks whether it may go on.
HELD_S = 0.02


class Mode(StrEnum):
    OK = "ok"
    DOWN = "down"  # 503 to everything, tokens too
    RATE_LIMITED = "rate_limited"  # 429 with Retry-After
    SLOW = "slow"  # right, but late
    HOLD = "hold"  # no answer before there is another mode, and then that mode's


PROVIDERS = ("oxylabs", "ebay")


def answer(document: object, status: int = 200, **headers: str) -> Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(orjson.dumps(document), status, given, media_type="application/json")


@dataclass(slots=True)
class Control:
    """What `/control` sets and shows."""

    latency_ms: int = 0
    slow_ms: int = 3000
    modes: dict[str, Mode] = field(default_factory=lambda: dict.fromkeys(PROVIDERS, Mode.OK))
    paid: dict[str, Counter[str]] = field(default_factory=lambda: {provider: Counter() for provider in PROVIDERS})
    tokens: set[str] = field(default_factory=set)  # that eBay's part has given out

    async def pause(self, provider: str) -> None:
        """Whatever an answer takes."""
        while self.modes[provider] == Mode.HOLD:  # noqa: ASYNC110 (tests set it from another thread)
            await asyncio.sleep(HELD_S)
        late_ms = self.latency_ms + (self.slow_ms if self.modes[provider] == Mode.SLOW else 0)
        if late_ms:
            await asyncio.sleep(late_ms / 1000)

    def routes(self) -> list[Route]:
        return [
            Route("/control", self._set, methods=["PUT"]),
            Route("/control", self._shown, methods=["GET"]),
            Route("/control/requests", self._counts, methods=["GET"]),
            Route("/control/requests", self._clear, methods=["DELETE"]),
            Route("/control/tokens", self._forget, methods=["DELETE"]),
        ]

    async def _set(self, request: Request) -> Response:
        try:
            told = orjson.loads(await request.body())
            provider, mode = told["provider"], Mode(told["mode"])
        except (ValueError, LookupError, TypeError):
            provider, mode = None, Mode.OK
        if provider not in PROVIDERS:
            wanted = f"{{provider: {'|'.join(PROVIDERS)}, mode: {'|'.join(Mode)}}}"
            return answer({"detail": f"Send JSON: {wanted}."}, 422)
        self.modes[provider] = mode
        return answer(self.modes)

    async def _shown(self, _request: Request) -> Response:
        return answer(self.modes)

    async def _counts(self, _request: Request) -> Response:
        return answer({"total": sum(one.total() for one in self.paid.values()), **self.paid})

    async def _clear(self, _request: Request) -> Response:
        for one in self.paid.values():
            one.clear()
        return Response(status_code=204)

    async def _forget(self, _request: Request) -> Response:
        self.tokens.clear()
        return Response(status_code=204)
