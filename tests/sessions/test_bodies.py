"""Uploads that are no StorageState, or too much of one: each a clear refusal, nothing kept, the server unharmed."""

from typing import Any

import httpx
import orjson
import pytest

from leasehold.auth import Role
from tests.parts.house import House

JSON = dict[str, Any]
COOKIE = {"name": "a", "value": "1", "domain": "board.example", "path": "/", "expires": -1}
COOKIE |= {"httpOnly": False, "secure": True, "sameSite": "Lax"}


@pytest.fixture
async def admin(home: House) -> httpx.AsyncClient:
    return await home.caller(Role.ADMIN)


@pytest.fixture
async def account(admin: httpx.AsyncClient) -> str:
    await admin.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
    made = await admin.post("/v2/accounts", json={"site": "board", "username": "ann", "secret": {}})
    return str(made.json()["id"])


def nested(depth: int) -> bytes:
    return b'{"cookies":' + b"[" * depth + b"]" * depth + b"}"


SHAPES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 422),
    "no JSON": (b'{"cookies": [', 422),
    "a list": (b"[]", 422),
    "null": (b"null", 422),
    "text": (b'"state"', 422),
    "cookies that are an object": (b'{"cookies": {}}', 422),
    "origins that are text": (b'{"cookies": [], "origins": "x"}', 422),
    "half of a surrogate pair": (b'{"cookies": [{"name": "\\ud800"}]}', 422),
    "no UTF-8": (b'{"cookies": "\xff"}', 422),
    "a hundred thousand cookies": (
        orjson.dumps({"cookies": [{**COOKIE, "name": f"c{n}"} for n in range(100_000)]}),
        422,
    ),
    "a thousand origins": (
        orjson.dumps(
            {"cookies": [], "origins": [{"origin": f"https://h{n}.example", "localStorage": []} for n in range(1000)]}
        ),
        422,
    ),
    "20 MB": (
        orjson.dumps(
            {
                "cookies": [],
                "origins": [
                    {"origin": "https://a.example", "localStorage": [{"name": "a", "value": "x" * 20_000_000}]}
                ],
            }
        ),
        413,
    ),
    "deep nesting": (nested(100_000), 422),
}


@pytest.mark.parametrize("body", SHAPES, ids=SHAPES)
async def test_what_is_no_state_is_refused_and_nothing_is_kept(
    admin: httpx.AsyncClient, account: str, body: str
) -> None:
    sent, status = SHAPES[body]

    answer = await admin.put(
        f"/v2/sessions/{account}", content=sent, headers={"Content-Type": "application/json"}, timeout=60
    )

    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    assert (await admin.get(f"/v2/sessions/{account}")).status_code == 404
    assert (await admin.get("/healthz")).status_code == 200


HOSTILE: list[JSON] = [
    {**COOKIE, "name": "x" * 5000},
    {**COOKIE, "name": "\u0000"},
    {**COOKIE, "name": "a\r\nSet-Cookie: b=1"},
    {**COOKIE, "domain": "../../etc/passwd"},
    {**COOKIE, "domain": "x" * 100_000},
    {**COOKIE, "domain": ""},
    {**COOKIE, "path": "no slash"},
    {**COOKIE, "expires": "soon"},
    {**COOKIE, "expires": 1e308},
    {**COOKIE, "sameSite": ["Lax"]},
    {**COOKIE, "value": {"$ne": None}},
    {**COOKIE, "partitionKey": "javascript:alert(1)"},
    {"name": "'; DROP TABLE account; --"},
    {},
]


async def test_hostile_entries_are_left_out_and_the_good_one_is_kept(admin: httpx.AsyncClient, account: str) -> None:
    told = await admin.put(f"/v2/sessions/{account}", json={"cookies": [*HOSTILE, COOKIE], "origins": [{}, 7, None]})
    kept = await admin.get(f"/v2/sessions/{account}")

    assert told.status_code == 200, told.text
    assert len(told.json()["rejected"]) == len(HOSTILE) + 3
    assert [one["name"] for one in kept.json()["cookies"]] == ["a"]
    assert kept.json()["origins"] == []


@pytest.mark.parametrize(
    "query",
    [
        "base=newest",
        "base=-1",
        "base=99999999999",
        "source=cloud",
        "health=fine",
        "mode=overwrite",
        "upload_id=a%20b",
        "captured_at=yesterday",
        "captured_at=2026-01-01T00:00:00",
        "dry_run=perhaps",
        "unknown=1",
    ],
)
async def test_odd_parameters_are_refused(admin: httpx.AsyncClient, account: str, query: str) -> None:
    answer = await admin.put(f"/v2/sessions/{account}?{query}", json={"cookies": []})

    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")


async def test_another_content_type_is_refused(admin: httpx.AsyncClient, account: str) -> None:
    answer = await admin.put(f"/v2/sessions/{account}", content=b"{}", headers={"Content-Type": "text/plain"})

    assert answer.status_code == 415


async def test_a_base_that_is_not_kept_counts_as_unknown(admin: httpx.AsyncClient, account: str) -> None:
    await admin.put(f"/v2/sessions/{account}", json={"cookies": [COOKIE]})

    told = (await admin.put(f"/v2/sessions/{account}?base=77", json={"cookies": []})).json()

    assert (told["base"], told["deleted"], told["absent_kept"]) == ("unknown", 0, 1)


async def test_only_an_operator_may_replace(home: House, admin: httpx.AsyncClient, account: str) -> None:
    collector = await home.caller(Role.COLLECTOR)

    answer = await collector.put(f"/v2/sessions/{account}?mode=replace", json={"cookies": []})

    assert (answer.status_code, answer.json()["permission"]) == (403, "sessions.manage")


async def test_a_viewer_sees_versions_and_no_state(home: House, admin: httpx.AsyncClient, account: str) -> None:
    await admin.put(f"/v2/sessions/{account}", json={"cookies": [COOKIE]})
    viewer = await home.caller(Role.VIEWER)

    versions = await viewer.get(f"/v2/sessions/{account}/versions")
    state = await viewer.get(f"/v2/sessions/{account}")

    assert ([one["version"] for one in versions.json()["items"]], state.status_code) == ([1], 403)


async def test_an_unchanged_session_is_not_sent_again(admin: httpx.AsyncClient, account: str) -> None:
    await admin.put(f"/v2/sessions/{account}", json={"cookies": [COOKIE]})

    first = await admin.get(f"/v2/sessions/{account}")
    again = await admin.get(f"/v2/sessions/{account}", headers={"If-None-Match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")


async def test_a_session_whose_storage_no_browser_takes_is_refused_with_its_origin(
    admin: httpx.AsyncClient, account: str
) -> None:
    for name in ("a", "b"):
        big = [{"origin": "https://board.example", "localStorage": [{"name": name, "value": "x" * 3_000_000}]}]
        await admin.put(f"/v2/sessions/{account}", json={"cookies": [], "origins": big}, timeout=60)

    answer = await admin.get(f"/v2/sessions/{account}")
    await admin.post(f"/v2/sessions/{account}/rollback", json={"version": 1})

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/session-not-loadable")
    assert answer.json()["origin"] == "https://board.example"
    assert (await admin.get(f"/v2/sessions/{account}")).status_code == 200
