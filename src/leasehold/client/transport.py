"""Sends calls: with the token, with retries that cannot do a thing twice, and with refusals raised as exceptions."""

import random
import uuid
from collections.abc import Iterator
from typing import Any, TypeVar

import httpx

from leasehold.client.calls import Call
from leasehold.client.problems import problem_from

T = TypeVar("T")

ATTEMPTS = 4
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_BUSY = frozenset({429, 502, 503, 504})


def request_for(call: Call[Any]) -> dict[str, Any]:
    """What httpx is asked to send; the same for every attempt, key included."""
    headers = {"Idempotency-Key": uuid.uuid4().hex} if call.creates else {}
    return {"method": call.method, "url": call.path, "json": call.body, "params": call.params, "headers": headers}


def pauses(call: Call[Any]) -> Iterator[float]:
    """How long to wait before each further attempt; none for a call that must not be sent twice."""
    for attempt in range(ATTEMPTS - 1 if call.is_repeatable else 0):
        yield min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311


def is_worth_another(answer: httpx.Response) -> bool:
    return answer.status_code in _BUSY


def asked_pause(answer: httpx.Response, otherwise: float) -> float:
    """What the server asked for with Retry-After, within reason."""
    told = answer.headers.get("Retry-After", "")
    return min(float(told), _LONGEST_PAUSE_S) if told.isdigit() else otherwise


def read(call: Call[T], answer: httpx.Response) -> T:
    """The answer as the call reads it, or the exception for the refusal."""
    if answer.is_success:
        return call.read(answer.json() if answer.content else None)
    try:
        document = answer.json()
    except ValueError:
        document = None
    raise problem_from(answer.status_code, document)


def headers(token: str, version: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "User-Agent": f"leasehold-python/{version}"}
