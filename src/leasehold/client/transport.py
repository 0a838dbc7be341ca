"""Sends calls: with the token, with retries that cannot do a thing twice, and with refusals raised as exceptions."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import httpx

from leasehold.client.calls import Call, Content
from leasehold.client.problems import problem_from
from leasehold.client.tenure import clock

T = TypeVar("T")

ATTEMPTS = 4
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
# Answers that mean: not now.
BUSY = frozenset({429, 502, 503, 504})


@contextmanager
def prepared(call: Call[Any], timeout: httpx.Timeout) -> Iterator[dict[str, Any]]:
    """What httpx is asked to send; the same for every attempt, key included. Files stay open until the last of them."""
    with ExitStack() as opened:
        request = request_for(call, timeout)
        if call.parts:
            del request["json"]
            request["files"] = [(name, _part(content, opened)) for name, content in call.parts]
        yield request


def _part(content: Content, opened: ExitStack) -> tuple[Any, ...]:
    source = content.source
    if isinstance(source, str | PathLike):
        source = opened.enter_context(Path(source).open("rb"))  # noqa: SIM115 (the stack closes it)
    return (content.name, source) if content.content_type is None else (content.name, source, content.content_type)


def request_for(call: Call[Any], timeout: httpx.Timeout) -> dict[str, Any]:
    headers = dict(call.headers) | ({"Idempotency-Key": call.key} if call.key else {})
    request: dict[str, Any] = {"method": call.method, "url": call.path, "params": _params(call)}
    if call.text is None:
        request["json"] = call.body
    else:
        headers["Content-Type"], request["content"] = call.text
    return request | {"headers": headers, "timeout": _patient(timeout, call.held_s)}


def timed(call: Call[Any], request: dict[str, Any]) -> dict[str, Any]:
    """The request as it is sent now: some say when that is, each time anew."""
    return {**request, "params": _params(call)} if call.is_timed else request


def _params(call: Call[Any]) -> Mapping[str, Any] | None:
    return {**(call.params or {}), "sent_at": stamp(clock())} if call.is_timed else call.params


def stamp(moment_s: float) -> str:
    """A moment of this machine's clock as the server reads times. It compares such moments with each other alone."""
    return datetime.fromtimestamp(moment_s, UTC).isoformat()


def _patient(timeout: httpx.Timeout, held_s: float) -> httpx.Timeout:
    """The server may take its time over this one: that is no silence."""
    read_s = None if timeout.read is None else timeout.read + held_s
    return httpx.Timeout(connect=timeout.connect, read=read_s, write=timeout.write, pool=timeout.pool)


def pauses(call: Call[Any]) -> Iterator[float]:
    """How long to wait before each further attempt; none for a call that must not be sent twice."""
    for attempt in range(ATTEMPTS - 1 if call.is_repeatable else 0):
        yield pause_after(attempt)


def pause_after(failures: int) -> float:
    """How long to wait after so many in a row."""
    return float(min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**failures)) * random.uniform(0.5, 1.0)  # noqa: S311


def is_worth_another(answer: httpx.Response) -> bool:
    return answer.status_code in BUSY


def asked_pause(answer: httpx.Response, otherwise: float) -> float:
    """What the server asked for with Retry-After, within reason."""
    told = answer.headers.get("Retry-After", "")
    return min(float(told), _LONGEST_PAUSE_S) if told.isdigit() else otherwise


def read(call: Call[T], answer: httpx.Response) -> T:
    """The answer as the call reads it, or the exception for the refusal."""
    if answer.is_success:
        found = answer.json() if answer.content else None
        return call.read((answer.headers.get("ETag", ""), found) if call.is_versioned else found)
    try:
        document = answer.json()
    except ValueError:
        document = None
    raise problem_from(answer.status_code, document)


def headers(token: str, version: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "User-Agent": f"leasehold-python/{version}"}


# Options that belong to one event loop or to one kind of client; the keeper's thread has its own.
_NOT_SHARED = frozenset({"transport", "mounts", "event_hooks"})


def connector(
    url: str,
    own_headers: Mapping[str, str],
    renewal_transport: Callable[[], httpx.AsyncBaseTransport] | None,
    options: Mapping[str, Any],
) -> Callable[[], httpx.AsyncClient] | None:
    """What gives the keeper's thread its own connections, on the same way to the server as everything else.

    A transport made for one thread cannot be used in the other, and going around it might lead nowhere: then None.
    """
    if renewal_transport is None and ("transport" in options or "mounts" in options):
        return None
    shared = {name: value for name, value in options.items() if name not in _NOT_SHARED}

    def connect() -> httpx.AsyncClient:
        way = renewal_transport() if renewal_transport else None
        # A ceiling: how long an attempt may take is for the keeper to say.
        return httpx.AsyncClient(base_url=url, headers=own_headers, timeout=30.0, transport=way, **shared)

    return connect
