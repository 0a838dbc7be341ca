"""The outermost layer: ids, limits, headers, counting."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from leasehold import logs
from leasehold.app import edged
from leasehold.edge import Edge
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase


async def test_a_request_id_is_given_back_or_made_up(home: House) -> None:
    client = home.client()

    own = await client.get("/healthz", headers={"X-Request-Id": "trace.1-a_b"})
    made = await client.get("/healthz")
    bad = await client.get("/healthz", headers={"X-Request-Id": "no spaces, please"})

    assert own.headers["x-request-id"] == "trace.1-a_b"
    assert len(made.headers["x-request-id"]) == 32
    assert len(bad.headers["x-request-id"]) == 32


async def test_a_body_is_counted_as_it_arrives(database: TestDatabase) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 1_000_000:
            sent += 1000
            yield b" " * 1000

    async with house(database, body_limit_bytes=10_000) as small:
        client = await small.caller()

        answer = await client.post("/v2/sites/rewrite", content=endless(), headers={"Content-Type": "application/json"})

    assert answer.status_code == 413
    assert answer.json()["type"] == "/problems/body-too-large"
    assert answer.json()["limit_bytes"] == 10_000
    assert sent < 20_000


async def test_a_stranger_is_sent_away_before_the_body_is_read(home: House) -> None:
    answer = await home.client().post("/v2/sites", content=b"not json", headers={"Content-Type": "text/plain"})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v2/sites", "/v2/sites/nope"])
async def test_a_head_is_the_get_without_its_body(admin: httpx.AsyncClient, path: str) -> None:
    full, head = await admin.get(path), await admin.head(path)

    assert head.status_code == full.status_code
    assert head.headers["content-type"] == full.headers["content-type"]


async def test_the_answer_to_a_head_has_no_bytes(home: House) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "HEAD", "path": "/healthz", "raw_path": b"/healthz", "query_string": b""}
    await edged(home.app)({**scope, "headers": [], "root_path": "", "http_version": "1.1"}, receive, send)

    assert sent[0]["status"] == 200
    assert b"".join(message.get("body", b"") for message in sent) == b""


async def test_a_request_that_a_stopping_server_cuts_off_is_told_so(home: House) -> None:
    sent: list[Message] = []

    async def cut_off(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise asyncio.CancelledError

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": []}
    with pytest.raises(asyncio.CancelledError):
        await Edge(cut_off, home.app.state.metrics, 1000)(scope, receive, send)

    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["type"] == "/problems/unavailable"


async def test_answers_are_not_stored_or_framed(admin: httpx.AsyncClient) -> None:
    headers = (await admin.get("/v2/sites")).headers

    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


async def test_requests_are_counted_by_route_not_by_path(admin: httpx.AsyncClient) -> None:
    await admin.get("/v2/sites/one")
    await admin.get("/v2/sites/two")

    text = (await admin.get("/metrics")).text

    assert 'leasehold_http_request_seconds_count{method="GET",route="/v2/sites/{slug}",status="404"} 2.0' in text
    assert "leasehold_pool_connections" in text


async def test_metrics_need_a_token_unless_the_switch_says_otherwise(home: House) -> None:
    async with house(home.database, metrics_public=True) as open_house:
        assert (await open_house.client().get("/metrics")).status_code == 200

    assert (await home.client().get("/metrics")).status_code == 401


async def test_the_log_of_a_request_holds_no_token_and_no_query(home: House, capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("debug", "json")
    token = await home.token()

    await home.client(token).get("/v2/sites", params={"cursor": "LHCANARYquery"})

    out = capfd.readouterr().err
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["route"] for event in events if event["event"] == "request.served"] == ["/v2/sites"]
    assert token not in out
    assert "LHCANARY" not in out
