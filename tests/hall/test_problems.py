"""Every error there can be has one shape, echoes nothing, and none is a crash."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from leasehold import logs
from leasehold.problems import MEDIA_TYPE, Problem
from tests.parts.house import House

CANARY = "LHROBIN5f3a"
JSON = {"Content-Type": "application/json"}


def check(answer: httpx.Response, status: int, slug: str) -> Any:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = answer.json()
    assert problem["type"] == f"/problems/{slug}"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert CANARY not in answer.text
    return problem


async def test_an_unknown_path_is_a_problem(admin: httpx.AsyncClient) -> None:
    check(await admin.get(f"/v2/{CANARY}"), 404, "not-found")


async def test_a_wrong_method_is_a_problem_that_names_the_right_ones(admin: httpx.AsyncClient) -> None:
    answer = await admin.put("/v2/sites/board")

    check(answer, 405, "method-not-allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "PATCH", "DELETE"}


@pytest.mark.parametrize("path", ["/", "/docs", "/ui/", "/ui/sites", "/openapi.json"])
async def test_a_wrong_method_on_a_page_is_a_problem_too(home: House, path: str) -> None:
    answer = await home.client().post(path)

    check(answer, 405, "method-not-allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/accounts/next?site=board"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_version_one_is_gone_and_says_where_to_go(home: House, method: str, path: str) -> None:
    answer = await home.client().request(method, path)

    check(answer, 410, "version-retired")
    assert answer.headers["link"] == '</v2>; rel="successor-version"'


DEEP = "[" * 100_000
BODIES: dict[str, bytes] = {
    "no JSON": f"{{{CANARY}".encode(),
    "a bare word": CANARY.encode(),
    "NaN": b'{"urls": [NaN]}',
    "Infinity": b'{"urls": [-Infinity]}',
    "a lone surrogate": b'{"urls": ["\\ud800"]}',
    "a lone surrogate as key": b'{"\\udfff": 1}',
    "NUL in text": b'{"urls": ["a\\u0000b"]}',
    "NUL in a key": b'{"urls": ["a"], "a\\u0000": 1}',
    "a raw control character": b'{"urls": ["a\x01"]}',
    "UTF-16": json.dumps({"urls": ["https://a.example"]}).encode("utf-16"),
    "overlong UTF-8": b'{"urls": ["\xc0\xaf"]}',
    "deep nesting": DEEP.encode(),
    "deep nesting, closed": (b"[" * 500 + b"]" * 500),
    "deep inside": b'{"urls": [' + b"[" * 200 + b"]" * 200 + b"]}",
    "a five-thousand-digit number": b'{"urls": [' + b"9" * 5000 + b"]}",
    "an unknown field": f'{{"urls": ["https://a.example"], "more": "{CANARY}"}}'.encode(),
    "a wrong type": f'{{"urls": "{CANARY}"}}'.encode(),
    "an array": f'["{CANARY}"]'.encode(),
    "null": b"null",
    "a number for text": b'{"urls": [1]}',
    "truth for text": b'{"urls": [true]}',
    "ten thousand keys": json.dumps({str(n): CANARY for n in range(10_000)}).encode(),
    "a year that never was": b'{"urls": ["a"], "at": "10000-01-01T00:00:00Z"}',
    "a time without zone": b'{"urls": ["a"], "at": "2024-01-01T00:00:00"}',
    "a number for a time": b'{"urls": ["a"], "at": 1700000000}',
    "nothing": b"",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_bad_body_is_422_with_a_pointer(admin: httpx.AsyncClient, body: bytes) -> None:
    answer = await admin.post("/v2/sites/rewrite", content=body, headers=JSON)

    problem = check(answer, 422, "invalid-request")
    assert problem["errors"]
    assert all(set(fault) == {"in", "pointer", "detail"} for fault in problem["errors"])


async def test_a_pointer_leads_to_the_fault(admin: httpx.AsyncClient) -> None:
    body = {"slug": "board", "domain": "a.example", "policy": {"breaker_percent": 101}}

    problem = check(await admin.post("/v2/sites", json=body), 422, "invalid-request")

    assert [fault["pointer"] for fault in problem["errors"]] == ["/policy/breaker_percent"]


@pytest.mark.parametrize("value", [True, "5", 5.0])
async def test_nothing_is_coerced(admin: httpx.AsyncClient, value: object) -> None:
    body = {"slug": "board", "domain": "a.example", "policy": {"cooldown_seconds": value}}

    check(await admin.post("/v2/sites", json=body), 422, "invalid-request")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"])
async def test_another_content_type_is_415(admin: httpx.AsyncClient, content_type: str) -> None:
    answer = await admin.post("/v2/sites/rewrite", content=b"{}", headers={"Content-Type": content_type})

    check(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=501", "limit=x", "limit=-1", "cursor=!", "cursor=%F0", "cursor=AAAA", "limit=9e999", "limits=5"],
)
async def test_a_bad_query_is_422(admin: httpx.AsyncClient, query: str) -> None:
    problem = check(await admin.get(f"/v2/audit?{query}"), 422, "invalid-request")

    assert problem["errors"][0]["in"] == "query"


@pytest.mark.parametrize("path", ["/v2/sites/a%00b", "/v2/sites?cursor=%00", "/v2/sites/%00/moves"])
async def test_nul_in_a_path_or_query_is_refused(admin: httpx.AsyncClient, path: str) -> None:
    check(await admin.get(path), 400, "malformed-request")


@pytest.mark.parametrize("slug", ["%ff%fe", "..%2f..", "%F0%9F%98%80", "a" * 150, "%ED%A0%80"])
async def test_an_odd_path_is_no_crash(admin: httpx.AsyncClient, slug: str) -> None:
    answer = await admin.get(f"/v2/sites/{slug}")

    assert answer.status_code in (404, 422)
    assert answer.headers["content-type"] == MEDIA_TYPE


async def test_a_crash_is_a_bare_500_with_the_request_id(home: House, capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")

    @home.app.get("/crash")
    async def crash() -> None:
        raise RuntimeError(CANARY)

    answer = await home.client().get("/crash", headers={"X-Request-Id": "abc-1"})

    problem = check(answer, 500, "internal-error")
    assert problem["request_id"] == "abc-1"
    logged = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [event["request_id"] for event in logged if event["event"] == "request.crashed"] == ["abc-1"]


async def test_a_database_that_is_away_is_503_with_a_time_to_come_back(
    home: House, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", "json")
    client = await home.caller()
    await home.app.state.db.close()

    answer = await client.get("/v2/sites")

    check(answer, 503, "unavailable")
    assert answer.headers["retry-after"]
    logged = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [event["error"] for event in logged if event["event"] == "database.failed"] == ["PoolClosed"]


async def test_a_database_that_came_back_is_used_at_once(home: House) -> None:
    client = await home.caller()
    await asyncio.gather(*(client.get("/v2/sites") for _ in range(8)))  # every connection of the pool is in use once
    home.database.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'leasehold'"
    )

    answers = await asyncio.gather(*(client.get("/v2/sites") for _ in range(8)))

    assert {answer.status_code for answer in answers} == {200}


async def test_every_problem_has_a_page_of_its_own(home: House) -> None:
    for slug, kind in Problem.kinds.items():
        page = await home.client().get(f"/problems/{slug}")

        assert page.status_code == 200
        assert kind.title in page.text
    check(await home.client().get("/problems/nope"), 404, "not-found")


@pytest.mark.parametrize("kind", Problem.kinds.values(), ids=Problem.kinds.keys())
def test_every_problem_says_what_to_do(kind: type[Problem]) -> None:
    assert kind.__doc__
    assert len(kind.__doc__) > 40
    assert 400 <= kind.status <= 599
