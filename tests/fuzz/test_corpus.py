"""Bytes that generators do not come upon, at every route that takes a body: refused, and nothing is left of them."""

import asyncio
import gc
import gzip
import random
import re
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import psutil
import pytest
import pytest_asyncio

from tests.auth.test_matrix import DOCUMENT, check_problem, things
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_S = 30.0
# What a process may grow by and still be said to have kept nothing.
SPARE_BYTES = 50 * 1024 * 1024

CORPUS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "a number": b"5",
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "many digits": b'{"site":' + b"9" * 5000 + b"}",
    "a large number": b'{"priority":9223372036854775808,"ttl_seconds":1e400,"limit":-1e400}',
    "no number": b'{"ttl_seconds":NaN,"priority":Infinity}',
    "half a character": rb'{"site":"\ud800","name":"\udfff","owner":"\ud800","slug":"\ud800"}',
    "half a character in a key": rb'{"\ud800":1}',
    "a zero": b'{"site":"a\\u0000b","name":"\\u0000","owner":"\\u0000","slug":"\\u0000"}',
    "UTF-16": '{"site":"board"}'.encode("utf-16"),
    "overlong UTF-8": b'{"site":"\xc0\xaf"}',
    "no UTF-8": b'{"site":"\xff\xfe"}',
    "a byte order mark": b'\xef\xbb\xbf{"site":"board"}',
    "the same key twice": b'{"site":"a","site":"b"}',
    "ten thousand keys": b"{" + b",".join(b'"k%d":1' % number for number in range(10_000)) + b"}",
    "a million characters": b'{"site":"' + b"a" * 1_000_000 + b'","owner":"' + b"b" * 1_000_000 + b'"}',
    "words for numbers": b'{"ttl_seconds":"5","priority":true,"count":5.0,"limit":"all"}',
    "what cannot be seen": '{"site":"\u202eboard\u200b","owner":"\u2066x\u2069","name":"\u0300"}'.encode(),
    "years that are none": b'{"from":"0000-01-01T00:00:00Z","since":"10000-01-01T00:00:00Z","at":"9999-12-31T24:00Z"}',
    "a pattern that takes for ever": b'{"q":"' + b"(a+)+" * 50 + b'$","name":"' + b"a" * 5000 + b'!"}',
    "packed": gzip.compress(b'{"site":"' + b"a" * 10_000_000 + b'"}'),
    "parts": b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n" * 2000 + b"--x--",
    "a part without an end": b"--x\r\nContent-Disposition: form-data; name=" + b"a" * 100_000,
}
# How they are said to be written.
TYPES = ("application/json", "text/plain", "application/json; charset=utf-16", "multipart/form-data; boundary=x", "")
ROUTES = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if "requestBody" in operation
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def names(home: House) -> dict[str, str]:
    return await things(home)


@pytest.mark.parametrize("body", CORPUS)
async def test_what_nobody_should_send_is_refused_everywhere(home: House, names: dict[str, str], body: str) -> None:
    client = await home.caller()
    before = psutil.Process().memory_info().rss
    for method, path in ROUTES:
        there = re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], "nothing"), path)
        for kind in TYPES if body in ("nothing", "a list", "parts") else TYPES[:1]:
            headers = {"Content-Type": kind, **({"Content-Encoding": "gzip"} if body == "packed" else {})}
            async with asyncio.timeout(PATIENCE_S):
                answer = await client.request(method, there, content=CORPUS[body], headers=headers)

            assert answer.status_code < 500, f"{method} {path}: {answer.text}"
            if answer.is_error:
                check_problem(answer)
                assert "aaaaaaaa" not in answer.text  # nothing of it comes back
    gc.collect()
    assert psutil.Process().memory_info().rss - before < SPARE_BYTES


QUERIES = (
    "limit=0",
    "limit=-1",
    "limit=99999999999999999999",
    "limit=1e3",
    "cursor=" + "A" * 5000,
    "cursor=%00",
    "cursor=eyJhIjoxfQ",
    "q=%ED%A0%80",
    "q=" + "%28a%2B%29%2B" * 200,
    "site=%00",
    "site=%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "since=10000-01-01",
    "since=-1",
    "a" * 3000 + "=1",
    "&" * 3000,
    "limit=1&limit=2",
)
LISTS = [path for path, operations in DOCUMENT["paths"].items() if "get" in operations]


@pytest.mark.parametrize("query", QUERIES)
async def test_what_nobody_should_ask_is_refused_everywhere(home: House, names: dict[str, str], query: str) -> None:
    client = await home.caller()
    for path in LISTS:
        there = re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], "nothing"), path)
        async with asyncio.timeout(PATIENCE_S):
            answer = await client.get(f"{there}?{query}")

        assert answer.status_code < 500, f"{path}: {answer.text}"
        if answer.is_error and answer.headers["content-type"].startswith("application"):
            check_problem(answer)


STORM = 1000


async def test_nothing_is_left_of_clients_that_go_away(home: House, names: dict[str, str]) -> None:
    """Whatever they asked for, and at whatever moment they went."""
    chance = random.Random(7)  # noqa: S311 (moments)
    client = await home.caller()
    for number in range(6):
        await client.post("/v2/accounts", json={"site": "ours", "username": f"storm-{number}", "secret": {}})
    asks: list[tuple[str, str, object]] = [
        ("POST", "/v2/accounts/acquire", {"site": "ours", "owner": "storm", "ttl_seconds": 5, "wait_seconds": 2}),
        ("POST", "/v2/seeds/acquire", {"site": "ours", "owner": "storm", "ttl_seconds": 5}),
        ("GET", "/v2/accounts", None),
        ("GET", f"/v2/accounts/{names['account_id']}", None),
        ("POST", "/v2/entities/records", {"items": []}),
    ]

    async def storm() -> int:
        method, path, body = chance.choice(asks)
        with suppress(TimeoutError):
            async with asyncio.timeout(chance.random() * 0.2):
                return (await client.request(method, path, json=body)).status_code
        return 0

    found: list[int] = []
    for _ in range(STORM // 50):
        found += await asyncio.gather(*(storm() for _ in range(50)))

    assert 0 in found  # some went away,
    assert any(found)  # and some did not
    assert max(found) < 500
    pool = home.app.state.db.pool
    async with asyncio.timeout(PATIENCE_S):
        while pool.get_stats()["pool_available"] < pool.get_stats()["pool_size"] or await _held(client):
            await asyncio.sleep(0.05)


async def _held(client: httpx.AsyncClient) -> bool:
    """Whether one of those that went away holds anything: a lease that nobody was told of ends by itself."""
    return bool((await client.get("/v2/leases?owner=storm")).json()["items"])
