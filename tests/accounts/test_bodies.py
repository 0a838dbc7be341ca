"""Every route of accounts and leases that takes a body: what does not fit is 422, echoes nothing, and is no crash."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

CANARY = "LHCANARY41c0"
HEADERS = {"Content-Type": "application/json"}
JOBS = ["job-1", "a", "A.b_c:d-9", "x" * 200]


@dataclass(frozen=True)
class Route:
    """A route, a body that it takes, and which of its parts may be left out."""

    method: str
    path: str
    body: dict[str, Any]
    optional: frozenset[str] = frozenset()
    takes_nothing: bool = False


ROUTES = {
    "create": Route(
        "POST",
        "/v2/accounts",
        {"site": "board", "username": "bob", "secret": {"p": "x"}, "labels": {"a": "b"}, "priority": 5},
        frozenset({"labels", "priority"}),
    ),
    "import": Route("POST", "/v2/accounts/import", {"items": []}),
    "change": Route(
        "PATCH",
        "/v2/accounts/{account}",
        {"state": "active", "reason": "x", "secret": {"p": "x"}, "labels": {"a": "b"}, "priority": 5},
        frozenset({"state", "reason", "secret", "labels", "priority"}),
    ),
    "acquire": Route(
        "POST",
        "/v2/accounts/acquire",
        {
            "site": "board",
            "owner": "bob",
            "ttl_seconds": 120,
            "wait_seconds": 0,
            "priority": 4,
            "job_id": "job-1",
            "count": 1,
            "labels": {"no": "such"},
            "account_id": "acct_" + "0" * 32,
            "include_session": False,
        },
        frozenset(
            {"ttl_seconds", "wait_seconds", "priority", "job_id", "count", "labels", "account_id", "include_session"}
        ),
    ),
    "reclaim": Route("POST", "/v2/accounts/reclaim", {"site": "board"}, frozenset({"site"}), takes_nothing=True),
    "heartbeat of an owner": Route(
        "POST", "/v2/leases/heartbeat", {"owner": "ann", "ttl_seconds": 60}, frozenset({"ttl_seconds"})
    ),
    "heartbeat": Route(
        "POST", "/v2/leases/{lease}/heartbeat", {"ttl_seconds": 60}, frozenset({"ttl_seconds"}), takes_nothing=True
    ),
    "release": Route(
        "POST",
        "/v2/leases/{lease}/release",
        {"outcome": "rate_limited", "reason": "captcha", "cooldown_seconds": 60},
        frozenset({"reason", "cooldown_seconds"}),
    ),
}
every_route = pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES.keys())

# What no route takes, byte by byte.
RAW: dict[str, bytes] = {
    "no JSON": f"{{{CANARY}".encode(),
    "a bare word": CANARY.encode(),
    "NaN": b'{"ttl_seconds": NaN, "priority": NaN}',
    "Infinity": b'{"ttl_seconds": -Infinity}',
    "a lone surrogate": b'{"owner": "\\ud800", "username": "\\ud800", "reason": "\\udfff"}',
    "a lone surrogate as key": b'{"\\udfff": 1}',
    "a raw control character": b'{"owner": "a\x01"}',
    "UTF-16": json.dumps({"site": "board"}).encode("utf-16"),
    "overlong UTF-8": b'{"owner": "\xc0\xaf"}',
    "encoded surrogates": b'{"owner": "\xed\xa0\x80"}',
    "deep nesting": b"[" * 100_000,
    "deep nesting, closed": b"[" * 500 + b"]" * 500,
    "deep inside": b'{"secret": {"a": ' + b"[" * 200 + b"]" * 200 + b"}}",
    "a five-thousand-digit number": b'{"ttl_seconds": ' + b"9" * 5000 + b"}",
    "an array": f'["{CANARY}"]'.encode(),
    "a number": b"5",
    "a text": f'"{CANARY}"'.encode(),
    "truth": b"true",
    "ten thousand keys": json.dumps({str(n): CANARY for n in range(10_000)}).encode(),
    "two documents": b"{}{}",
    "a comment": b'{} // {"a": 1}',
    "a trailing comma": b'{"site": "board",}',
    "single quotes": b"{'site': 'board'}",
}

# Put where something else belongs. Some may be right in some places: what matters is that none is a crash.
ODD: list[Any] = [
    *(2**31, 2**53, 2**63, -(2**63) - 1, 2**64, 10**40, -1, 0, 5.0, 0.5, 1e308, True, False, None),
    *("", " ", "5", "x" * 100_000, "\x01", "\u202egnp.exe", "\u200b", "\ufeff", "\uffff", "é" * 600, "🦊" * 200),
    *("'; DROP TABLE account; --", "%s", "{{7*7}}", "../../etc/passwd", "board\n", "acct_" + "f" * 32, "lease_x"),
    *([], [[]], [CANARY], {}, {"$gt": ""}, {"a": {"$where": "1"}}, {"": ""}, {"a": None}, {"a": 5}),
    {"k" * 101: "v"},
    {"k": "v" * 201},
    {str(n): "v" for n in range(101)},
]


@pytest.fixture
async def there(admin: httpx.AsyncClient) -> dict[str, str]:
    """A site, an account and a lease on it; and live jobs of the names that are used here."""
    for job in JOBS:
        video = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}
        assert (await admin.post("/v2/jobs", json={"job_id": job, **video})).status_code == 202
    site = {"slug": "board", "domain": "board.example", "policy": {"breaker_min_accounts": 100}}
    await admin.post("/v2/sites", json=site)
    made = await admin.post("/v2/accounts", json={"site": "board", "username": "ann", "secret": {"p": "x"}})
    got = await admin.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann"})
    return {"account": made.json()["id"], "lease": got.json()["leases"][0]["id"]}


class Caller:
    """Sends bodies to one route and keeps what was odd about the answers."""

    def __init__(self, client: httpx.AsyncClient, route: Route, there: dict[str, str]) -> None:
        self._client = client
        self._route = route
        self._path = route.path.format(**there)
        self.odd: dict[str, str] = {}

    async def send(self, body: bytes) -> httpx.Response:
        return await self._client.request(self._route.method, self._path, content=body, headers=HEADERS)

    async def must_refuse(self, name: str, body: bytes) -> None:
        answer = await self.send(body)
        if not (answer.status_code == 422 and answer.json()["errors"] and CANARY not in answer.text):
            self.odd[name] = f"{answer.status_code} {answer.text[:300]}"

    async def must_not_crash(self, name: str, body: bytes) -> None:
        answer = await self.send(body)
        if answer.status_code >= 500 or (answer.is_error and CANARY in answer.text):
            self.odd[name] = f"{answer.status_code} {answer.text[:300]}"


@pytest.fixture
def caller(admin: httpx.AsyncClient, route: Route, there: dict[str, str]) -> Caller:
    return Caller(admin, route, there)


def encoded(route: Route, **changed: Any) -> bytes:
    return json.dumps(route.body | changed).encode()


@every_route
async def test_a_body_that_fits_is_taken(caller: Caller, route: Route) -> None:
    assert (await caller.send(encoded(route))).is_success


@every_route
async def test_what_may_be_left_out_may_be_left_out(caller: Caller, route: Route) -> None:
    needed = {name: value for name, value in route.body.items() if name not in route.optional}

    assert (await caller.send(json.dumps(needed).encode())).is_success


@every_route
async def test_what_must_be_there_must_be_there(caller: Caller, route: Route) -> None:
    for missing in set(route.body) - route.optional:
        left = {name: value for name, value in route.body.items() if name != missing}
        await caller.must_refuse(f"without {missing}", json.dumps(left).encode())

    assert caller.odd == {}


@every_route
async def test_no_body_at_all_is_taken_only_where_there_is_nothing_to_say(caller: Caller, route: Route) -> None:
    for body in (b"", b"null"):
        assert (await caller.send(body)).status_code == (200 if route.takes_nothing else 422)


@every_route
async def test_what_is_no_body_is_422(caller: Caller, route: Route) -> None:
    for name, body in RAW.items():
        await caller.must_refuse(name, body)

    assert caller.odd == {}


@every_route
async def test_an_unknown_field_is_422(caller: Caller, route: Route) -> None:
    for name in ("more", "Site", "owner ", "__proto__", "", "organisation", "id", "fence"):
        await caller.must_refuse(name, encoded(route, **{name: CANARY}))

    assert caller.odd == {}


@every_route
async def test_nul_in_any_text_is_422(caller: Caller, route: Route) -> None:
    for name in route.body:
        for value in ("a\x00b", {"a": "\x00"}, {"\x00": "a"}, ["\x00"]):
            await caller.must_refuse(f"{name}: {value!r}", encoded(route, **{name: value}))

    assert caller.odd == {}


@every_route
async def test_a_value_of_another_kind_is_422(caller: Caller, route: Route) -> None:
    kinds: dict[type, Any] = {str: CANARY, int: 5, float: 5.5, bool: True, list: [CANARY], dict: {"a": [CANARY]}}
    for name, value in route.body.items():
        for kind, other in kinds.items():
            # A secret may hold anything, and a text that is no site or state is another test's.
            if kind is not type(value) and not (name == "secret" and kind is dict):
                await caller.must_refuse(f"{name} as {kind.__name__}", encoded(route, **{name: other}))

    assert caller.odd == {}


@every_route
async def test_no_odd_value_anywhere_is_a_crash(caller: Caller, route: Route) -> None:
    for name in route.body:
        for number, value in enumerate(ODD):
            await caller.must_not_crash(f"{name}: {number} {value!r:.80}", encoded(route, **{name: value}))

    assert caller.odd == {}


BOUNDS: list[tuple[str, str, list[Any], list[Any]]] = [
    ("acquire", "ttl_seconds", [5, 3600], [4, 3601, 0, -5, 2**31, 2**63, None]),
    ("acquire", "wait_seconds", [0], [-1, 31, 2**63, None]),
    ("acquire", "priority", [0, 9], [-1, 10, None]),
    ("acquire", "count", [1, 100], [0, 101, -1, None]),
    ("acquire", "owner", ["x", "x" * 200, "☃" * 200], ["", "x" * 201, "a\nb", "a\x7f", None]),
    ("acquire", "job_id", [*JOBS, None], ["", "x" * 201, "a b", "ä", "a/b", "a\n"]),
    ("acquire", "site", ["board"], ["", "Board", "-board", "a" * 64, "board\n", "bo ard", None]),
    ("acquire", "account_id", [None], ["", "x", "acct_", "acct_" + "g" * 32, "lease_" + "0" * 32, "acct_" + "A" * 32]),
    ("acquire", "labels", [{}, {"k" * 100: "v" * 200}], [{"": "v"}, {"k" * 101: "v"}, {"k": "v" * 201}, {"k": None}]),
    ("acquire", "include_session", [True, False], [1, "true", None]),
    ("heartbeat", "ttl_seconds", [5, 3600, None], [4, 3601, 60.0, "60", True]),
    ("heartbeat of an owner", "ttl_seconds", [5, 3600, None], [4, 3601, 60.0, "60", True]),
    ("heartbeat of an owner", "owner", ["x", "x" * 200], ["", "x" * 201, "a\tb", None, ["ann"]]),
    ("create", "priority", [0, 1000], [-1, 1001, 5.0, "5"]),
    ("create", "username", ["x", "ä" * 500, " "], ["", "x" * 501, "a\nb", None]),
    ("create", "labels", [None, {}, {str(n): "" for n in range(50)}], [{str(n): "" for n in range(51)}, [], "a:b"]),
    ("create", "secret", [{}, {"a": [1, None, {"b": 0.5}]}], [None, [], "x", {"k" * 201: 1}]),
    ("change", "state", ["active", "inactive", "blocked", None], ["using", "cooling", "Active", "", 0, ["active"]]),
    ("change", "reason", ["x" * 500, None], ["", "x" * 501, "a\nb"]),
    ("reclaim", "site", ["board", None], ["", "Board", 5]),
    ("release", "cooldown_seconds", [0, 2_592_000, None], [-1, 2_592_001, 60.0]),
    ("release", "reason", ["x" * 500, None], ["", "x" * 501, "a\nb"]),
    ("release", "outcome", ["rate_limited"], ["", "OK", "gone", "x" * 51, None]),
]


@pytest.mark.parametrize(("name", "field", "good", "bad"), BOUNDS, ids=[f"{row[0]}: {row[1]}" for row in BOUNDS])
async def test_the_bounds_are_those_of_the_contract(
    admin: httpx.AsyncClient, there: dict[str, str], name: str, field: str, good: list[Any], bad: list[Any]
) -> None:
    route = ROUTES[name]
    caller = Caller(admin, route, there)

    for value in bad:
        await caller.must_refuse(f"{value!r:.80}", encoded(route, **{field: value}))
    assert caller.odd == {}
    for number, value in enumerate(good):
        fresh = {"username": f"bob-{number}"} if name == "create" and field != "username" else {}
        answer = await caller.send(encoded(route, **fresh, **{field: value}))
        assert answer.is_success, f"{value!r:.80}: {answer.text}"


async def test_the_longest_wait_is_taken(admin: httpx.AsyncClient, there: dict[str, str]) -> None:
    await admin.post("/v2/accounts", json={"site": "board", "username": "free", "secret": {}})

    answer = await admin.post("/v2/accounts/acquire", json={"site": "board", "owner": "bob", "wait_seconds": 30})

    assert len(answer.json()["leases"]) == 1


async def test_a_fault_is_pointed_at(admin: httpx.AsyncClient, there: dict[str, str]) -> None:
    body = {"site": "board", "owner": "", "count": 0, "labels": {"a": 5}, "more": 1}

    errors = (await admin.post("/v2/accounts/acquire", json=body)).json()["errors"]

    assert {fault["pointer"] for fault in errors} == {"/owner", "/count", "/labels/a", "/more"}
    assert {fault["in"] for fault in errors} == {"body"}


async def test_a_cooldown_goes_with_a_rate_limit_alone(admin: httpx.AsyncClient, there: dict[str, str]) -> None:
    path = f"/v2/leases/{there['lease']}/release"

    answer = await admin.post(path, json={"outcome": "ok", "cooldown_seconds": 5})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/cooldown_seconds")
    assert (await admin.post(f"/v2/leases/{there['lease']}/heartbeat")).status_code == 200


@pytest.mark.parametrize("query", ["", "owner=", f"owner={'x' * 201}", "owner=ann&more=1"])
async def test_whose_leases_to_revoke_must_be_said(admin: httpx.AsyncClient, there: dict[str, str], query: str) -> None:
    assert (await admin.delete(f"/v2/leases?{query}")).status_code == 422
    assert len((await admin.get("/v2/leases")).json()["items"]) == 1


@pytest.mark.parametrize("id_", ["x", "lease_" + "0" * 32, "acct_" + "0" * 32, "lease_" + "F" * 32, "%ff", "a" * 200])
async def test_an_id_that_was_never_given_out_is_404(admin: httpx.AsyncClient, there: dict[str, str], id_: str) -> None:
    asked = [
        await admin.post(f"/v2/leases/{id_}/heartbeat", json={}),
        await admin.post(f"/v2/leases/{id_}/release", json={"outcome": "ok"}),
        await admin.delete(f"/v2/leases/{id_}"),
        await admin.get(f"/v2/accounts/{id_}"),
        await admin.get(f"/v2/accounts/{id_}/leases"),
        await admin.patch(f"/v2/accounts/{id_}", json={}),
        await admin.delete(f"/v2/accounts/{id_}"),
        await admin.post(f"/v2/accounts/{id_}/reveal"),
    ]

    kinds = ["lease"] * 3 + ["account"] * 5
    assert [answer.json()["type"] for answer in asked] == [f"/problems/{kind}-unknown" for kind in kinds]
