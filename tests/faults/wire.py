"""One client on the wire: sends a call to one of the servers and writes down what it asked and what it saw."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.faults.history import Recorder, Result

# How long an answer may take; a server that was stopped gives none, and then it is time to ask another.
PATIENCE_S = 4.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A call to be made: what is written down of it, and what goes over the wire."""

    op: str
    method: str
    path: str
    asked: Mapping[str, Any]
    body: Mapping[str, Any] | None = None
    # How long the server may hold it.
    wait_s: float = 0
    # Hang up after so long, whatever has become of it.
    cut_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    result: Result
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return int(self.seen.get("status", 0))


class Wire:
    """The connections of one client, and its history."""

    def __init__(
        self,
        folder: Path,
        name: str,
        servers: list[str],
        token: str,
        rng: random.Random,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._log = Recorder(folder, name)
        self._patience_s = patience_s
        self._servers = servers
        self._rng = rng
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=8),
            trust_env=False,
        )

    async def call(self, ask: Ask) -> Answer:
        number, began = self._log.invoke(ask.op, ask.asked), time.monotonic()
        answer = await self._send(ask)
        self._log.answered(number, answer.result, {**answer.seen, "took": time.monotonic() - began})
        return answer

    async def look(self, path: str) -> list[dict[str, Any]]:
        """What a list shows; nothing when it cannot be had. That is no part of the history."""
        try:
            response = await self._http.get(self._rng.choice(self._servers) + path, timeout=self._patience_s)
            items: list[dict[str, Any]] = response.json()["items"] if response.status_code == 200 else []
        except httpx.HTTPError:
            return []
        return items

    async def close(self) -> None:
        await self._http.aclose()
        self._log.close()

    async def _send(self, ask: Ask) -> Answer:
        key = ask.asked.get("key")
        try:
            async with asyncio.timeout(ask.cut_s):
                response = await self._http.request(
                    ask.method,
                    self._rng.choice(self._servers) + ask.path,
                    json=ask.body,
                    headers={"Idempotency-Key": key} if key else {},
                    timeout=self._patience_s + ask.wait_s,
                )
        except TimeoutError:
            return Answer("unknown", {"error": "cut"})
        except httpx.ConnectError as error:
            return Answer("fail", {"error": type(error).__name__})  # nothing was sent
        except httpx.HTTPError as error:
            return Answer("unknown", {"error": type(error).__name__})
        return _read(ask, response)


def _read(ask: Ask, response: httpx.Response) -> Answer:
    status = response.status_code
    document = response.json()
    if status >= 500:
        said = {"problem": document["type"], "detail": document["detail"], "request": document["request_id"]}
        return Answer("unknown", {"status": status, **said})
    if status >= 400:
        seen = {"status": status, "problem": document["type"], "reason": document.get("reason")}
        return Answer("fail", seen)
    return Answer("ok", {"status": status, **_seen(ask.op, document)})


def _seen(op: str, document: Mapping[str, Any]) -> dict[str, Any]:
    match op:
        case "acquire":
            waiting = document["waiting"]
            leases = [_lease(lease) for lease in document["leases"]]
            return {"leases": leases, "waiting": waiting["reason"] if waiting else None}
        case "heartbeat":
            return _lease(document)
        case "heartbeat_owner":
            return {"renewed": document["renewed"], "lost": document["lost"]}
        case "release":
            return {"already": document["already_released"]}
        case "revoke" | "revoke_owner":
            return {"revoked": document["revoked"]}
    return {}


def _lease(lease: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": lease["id"],
        "resource": lease["resource_id"],
        "fence": lease["fence"],
        "acquired_at": _seconds(lease["acquired_at"]),
        "expires_at": _seconds(lease["expires_at"]),
    }


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
