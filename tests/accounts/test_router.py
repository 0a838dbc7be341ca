"""Accounts over HTTP: files in three forms, keys, filters, cursors, bounds, and who may do what to whose."""

import asyncio
import base64
import json
from typing import Any

import httpx
import pytest

from leasehold.accounts.intake import MAX_SECRET_BYTES
from leasehold.accounts.router import MAX_IMPORT
from leasehold.auth import Role
from tests.parts.house import House

CANARY = "LHCANARY77ab"
CSV, NDJSON, JSON = "text/csv", "application/x-ndjson", "application/json"


@pytest.fixture(autouse=True)
async def _site(admin: httpx.AsyncClient) -> None:
    for slug in ("board", "shop"):
        await admin.post("/v2/sites", json={"slug": slug, "domain": f"{slug}.example"})


async def make(client: httpx.AsyncClient, username: str = "ann", key: str | None = None, **more: Any) -> httpx.Response:
    body = {"site": "board", "username": username, "secret": {"password": "x"}, **more}
    return await client.post("/v2/accounts", json=body, headers={"Idempotency-Key": key} if key else {})


async def lease(client: httpx.AsyncClient, **more: Any) -> Any:
    answer = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "ann", **more})
    return answer.json()["leases"][0]


async def send_file(client: httpx.AsyncClient, text: str | bytes, kind: str) -> httpx.Response:
    return await client.post("/v2/accounts/import", content=text, headers={"Content-Type": kind})


async def names(client: httpx.AsyncClient, query: str = "") -> list[str]:
    answer = await client.get(f"/v2/accounts{query}")
    assert answer.status_code == 200, answer.text
    return [account["username"] for account in answer.json()["items"]]


def check_refused(answer: httpx.Response, status: int, slug: str) -> Any:
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (status, f"/problems/{slug}"), answer.text
    return problem


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


ITEMS: list[Any] = [
    {"site": "board", "username": "ann", "secret": {"password": "1"}},
    {"site": "nowhere", "username": "lost", "secret": {"password": CANARY}},
    {"site": "board", "username": "", "secret": {"password": CANARY}},
    {"site": "board", "username": "bob", "secret": {"password": "2"}, "priority": 7, "labels": {"region": "de"}},
    {"site": "board", "username": "old", "secret": {"password": CANARY}, "priority": 1001},
    {"site": "shop", "username": "cem", "secret": {"password": "3"}},
]
FILES = {
    JSON: json.dumps({"items": [*ITEMS[:5], CANARY, ITEMS[5]]}),
    NDJSON: "\r\n".join([*map(json.dumps, ITEMS[:5]), f'{{"{CANARY}', json.dumps(ITEMS[5]), ""]),
    CSV: "site,username,password,priority,label.region\r\n"
    "board,ann,1,,\r\n"
    f"nowhere,lost,{CANARY},,\r\n"
    f"board,,{CANARY},,\r\n"
    "board,bob,2,7,de\r\n"
    f"board,old,{CANARY},1001,\r\n"
    f"board,{CANARY}\r\n"
    "shop,cem,3,,\r\n",
}


@pytest.mark.parametrize("kind", FILES)
async def test_bad_lines_in_a_file_cost_the_good_ones_nothing(admin: httpx.AsyncClient, kind: str) -> None:
    answer = await send_file(admin, FILES[kind], f"{kind.upper()}; charset=utf-8")

    told = answer.json()
    assert (answer.status_code, told["created"], told["updated"]) == (200, 3, 0)
    first_line = 2 if kind == CSV else 1
    assert [bad["line"] - first_line for bad in told["rejected"]] == [1, 2, 4, 5]
    assert CANARY not in answer.text
    found = (await admin.get("/v2/accounts")).json()["items"]
    assert [(one["site"], one["username"], one["priority"], one["labels"]) for one in found] == [
        ("board", "ann", 0, {}),
        ("board", "bob", 7, {"region": "de"}),
        ("shop", "cem", 0, {}),
    ]
    assert (await lease(admin, account_id=found[0]["id"]))["account"]["secret"] == {"password": "1"}


@pytest.mark.parametrize("kind", FILES)
async def test_the_same_file_again_makes_nothing_new(admin: httpx.AsyncClient, kind: str) -> None:
    await send_file(admin, FILES[kind], kind)

    told = (await send_file(admin, FILES[kind], kind)).json()

    assert (told["created"], told["updated"], len(told["rejected"])) == (0, 3, 4)


async def test_of_a_name_that_stands_twice_the_last_line_counts(admin: httpx.AsyncClient) -> None:
    told = (await send_file(admin, "site,username,password\nboard,ann,old\nboard,ann,new\n", CSV)).json()

    assert (told["created"], told["updated"]) == (1, 0)
    assert (await lease(admin))["account"]["secret"] == {"password": "new"}


@pytest.mark.parametrize("kind", [CSV, NDJSON])
async def test_a_byte_order_mark_is_no_part_of_a_file(admin: httpx.AsyncClient, kind: str) -> None:
    answer = await send_file(admin, b"\xef\xbb\xbf" + FILES[kind].encode(), kind)

    assert answer.json()["created"] == 3


async def test_a_column_may_carry_any_text(admin: httpx.AsyncClient) -> None:
    await send_file(admin, 'site,username,pass\nboard,"ünï,cödé ""x""","a\nb ☃"\n', CSV)

    account = (await lease(admin))["account"]
    assert (account["username"], account["secret"]) == ('ünï,cödé "x"', {"pass": "a\nb ☃"})


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", ""])
async def test_a_file_of_another_kind_is_415(admin: httpx.AsyncClient, kind: str) -> None:
    problem = check_refused(await send_file(admin, FILES[CSV], kind), 415, "unsupported-media-type")

    assert problem["accepts"] == [JSON, CSV, NDJSON]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    "text", [b"site,username\nboard,\xff\xfe", "site,username\nboard,ann".encode("utf-16"), b"\xc0\xaf"]
)
async def test_a_file_that_is_not_utf_8_is_422(admin: httpx.AsyncClient, kind: str, text: bytes) -> None:
    check_refused(await send_file(admin, text, kind), 422, "invalid-request")


@pytest.mark.parametrize(
    "document", ["", "null", "[]", "{}", '{"items": {}}', '{"items": null}', '{"items": [], "x": 1}']
)
async def test_json_without_a_list_of_items_is_422(admin: httpx.AsyncClient, document: str) -> None:
    problem = check_refused(await send_file(admin, document, JSON), 422, "invalid-request")

    assert problem["errors"][0]["pointer"] == "/items"


@pytest.mark.parametrize("kind", [CSV, NDJSON])
async def test_an_empty_file_is_no_crash(admin: httpx.AsyncClient, kind: str) -> None:
    told = (await send_file(admin, "", kind)).json()

    assert (told["created"], told["updated"], len(told["rejected"])) == (0, 0, 1 if kind == CSV else 0)


@pytest.mark.parametrize(
    ("kind", "head", "line", "end"),
    [(CSV, "site,username\n", "x\n", ""), (NDJSON, "", "1\n", ""), (JSON, '{"items": [1', ",1", "]}")],
)
async def test_a_file_has_a_greatest_length(
    admin: httpx.AsyncClient, kind: str, head: str, line: str, end: str
) -> None:
    most = MAX_IMPORT - (1 if kind == JSON else 0)

    fits = await send_file(admin, head + line * most + end, kind)
    too_long = await send_file(admin, head + line * (most + 1) + end, kind)

    assert (fits.status_code, len(fits.json()["rejected"])) == (200, MAX_IMPORT)
    check_refused(too_long, 422, "invalid-request")


NUL_AND_WORSE = {
    "NUL in a label": {"labels": {"region": "a\x00b"}},
    "NUL in the name of a label": {"labels": {"a\x00b": "x"}},
    "NUL in a secret": {"secret": {"password": "a\x00b"}},
    "NUL in the name of a part of a secret": {"secret": {"a\x00b": "x"}},
    "NUL in a username": {"username": "a\x00b"},
    "a secret that is deep": {"secret": {"a": json.loads("[" * 100 + "]" * 100)}},
    "a secret that is deeper": {"secret": {"a": json.loads("[" * 400 + "]" * 400)}},
    "a secret that is no object": {"secret": [CANARY]},
    "an unknown field": {"password": CANARY},
    "a number for a name": {"username": 5},
    "a label that is no text": {"labels": {"region": 5}},
    "a priority that is no whole number": {"priority": 5.0},
    "a field with a name without end": {"x" * 100_000: CANARY},
}


@pytest.mark.parametrize("more", NUL_AND_WORSE.values(), ids=NUL_AND_WORSE.keys())
async def test_an_odd_line_is_rejected_by_itself(admin: httpx.AsyncClient, more: dict[str, Any]) -> None:
    good = {"site": "board", "username": "ann", "secret": {}}
    lines = [good, {"site": "board", "username": "odd", "secret": {}, **more}, {**good, "username": "bob"}]

    answer = await send_file(admin, "\n".join(map(json.dumps, lines)), NDJSON)

    told = answer.json()
    assert (answer.status_code, told["created"], [bad["line"] for bad in told["rejected"]]) == (200, 2, [2])
    assert len(answer.text) < 1000
    assert CANARY not in answer.text


async def test_nul_in_csv_is_rejected_by_itself(admin: httpx.AsyncClient) -> None:
    text = (
        "site,username,label.a,pass\nboard,ann,x,y\nboard,b,x\x00,y\nboard,c,x,y\x00\nboard,d\x00,x,y\nboard,eve,x,y\n"
    )

    told = (await send_file(admin, text, CSV)).json()

    assert (told["created"], [bad["line"] for bad in told["rejected"]]) == (2, [3, 4, 5])


@pytest.mark.parametrize("letter", ["x", "☃"])
async def test_a_secret_has_a_greatest_size_in_bytes(admin: httpx.AsyncClient, letter: str) -> None:
    room = (MAX_SECRET_BYTES - len('{"p":""}')) // len(letter.encode())
    fits, too_large = {"p": letter * room}, {"p": letter * (room + 1)}

    made = await make(admin, secret=fits)
    path = f"/v2/accounts/{made.json()['id']}"

    assert (made.status_code, (await admin.patch(path, json={"secret": fits})).status_code) == (201, 200)
    for answer in (await make(admin, "bob", secret=too_large), await admin.patch(path, json={"secret": too_large})):
        problem = check_refused(answer, 422, "invalid-request")
        assert [fault["pointer"] for fault in problem["errors"]] == ["/secret"]
    line = json.dumps({"site": "board", "username": "bob", "secret": too_large})
    assert (await send_file(admin, line, NDJSON)).json()["rejected"][0]["detail"].startswith("secret: ")
    assert (await lease(admin))["account"]["secret"] == fits


async def test_a_repeat_under_a_key_answers_from_the_account_as_it_is_now(admin: httpx.AsyncClient) -> None:
    first = await make(admin, key="k", labels={"a": "1", "b": "2"})
    await admin.patch(f"/v2/accounts/{first.json()['id']}", json={"priority": 9})

    spelled_otherwise = b'{"labels": {"b":"2","a":"1"}, "secret": {"password": "x"}, "username": "ann","site":"board"}'
    again = await admin.post(
        "/v2/accounts", content=spelled_otherwise, headers={"Idempotency-Key": "k", "Content-Type": JSON}
    )

    assert (again.status_code, again.json()["id"], again.json()["priority"]) == (201, first.json()["id"], 9)


async def test_a_key_belongs_to_one_body_and_one_token(home: House, admin: httpx.AsyncClient) -> None:
    first = await make(admin, key="k")
    another = await home.caller()

    check_refused(await make(admin, key="k", secret={"password": "other"}), 422, "idempotency-mismatch")
    check_refused(await make(admin, "bob", key="k"), 422, "idempotency-mismatch")
    assert check_refused(await make(another, key="k"), 409, "account-exists")["account"] == first.json()["id"]


async def test_a_create_that_was_refused_is_not_remembered(admin: httpx.AsyncClient) -> None:
    check_refused(await make(admin, key="k", site="later"), 404, "site-unknown")
    await admin.post("/v2/sites", json={"slug": "later", "domain": "later.example"})

    assert (await make(admin, key="k", site="later")).status_code == 201


async def test_repeats_at_the_same_time_make_one(admin: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(make(admin, key="k") for _ in range(6)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1


@pytest.mark.parametrize("key", ["", " ", "a b", "a" * 201, "ü".encode().decode("latin-1")])
async def test_a_key_that_is_none_is_422(admin: httpx.AsyncClient, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}

    answer = await admin.post("/v2/accounts", json={"site": "board", "username": "a", "secret": {}}, headers=headers)

    assert check_refused(answer, 422, "invalid-request")["errors"][0]["in"] == "header"


async def test_a_label_is_asked_for_as_name_and_value(admin: httpx.AsyncClient) -> None:
    await make(admin, "ann", labels={"region": "de", "url": "http://x:80", "empty": ""})
    await make(admin, "bob", labels={"region": "fr", "ä ö": "ü&="})

    assert await names(admin, "?label=region:de") == ["ann"]
    assert await names(admin, "?label=url:http://x:80") == ["ann"]  # the first colon is the one that counts
    assert await names(admin, "?label=empty:") == ["ann"]
    assert await names(admin, "?label=%C3%A4%20%C3%B6:%C3%BC%26%3D") == ["bob"]
    assert await names(admin, "?label=region:d") == []
    assert await names(admin, "?label=region:de&label=region:fr") == ["bob"]  # of one name the last counts


@pytest.mark.parametrize("query", ["region", ":de", "", ":", "&".join(["a:b"] * 21).replace("&", "&label=")])
async def test_a_label_that_is_none_is_422(admin: httpx.AsyncClient, query: str) -> None:
    problem = check_refused(await admin.get(f"/v2/accounts?label={query}"), 422, "invalid-request")

    assert problem["errors"][0]["in"] == "query"


FORGED = [
    "5",
    "null",
    "true",
    "1e5",
    '"ab"',
    "{}",
    '{"a":1,"b":2}',
    "[]",
    '["a"]',
    '["a","b","c"]',
    "[1,2]",
    '[["a"],"b"]',
]
FORGED += ['["a\\u0000","b"]', '["a","b\\u0000"]', '["\\ud800","b"]', "[" * 5000, "", "-1", str(2**63), "9" * 300, "x"]


@pytest.mark.parametrize("path", ["/v2/accounts", "/v2/accounts/{id}/leases", "/v2/leases"])
async def test_a_cursor_that_we_never_gave_out_is_422(admin: httpx.AsyncClient, path: str) -> None:
    path = path.replace("{id}", (await make(admin)).json()["id"])
    forged = [cursor(text) for text in FORGED] + ["!", "%F0", "AAAA", "AAAAA", "a b", "%ED%A0%80"]

    answers = {text: await admin.get(f"{path}?cursor={text}") for text in forged}

    odd = {text: answer.status_code for text, answer in answers.items() if answer.status_code != 422}
    may_be_a_fence = {cursor("5")} if path.endswith("/leases") and path != "/v2/leases" else set()
    assert set(odd) == may_be_a_fence, odd


async def test_a_cursor_that_we_gave_out_is_taken_however_long_the_name(admin: httpx.AsyncClient) -> None:
    await make(admin, "🦊" * 499 + "a")
    await make(admin, "🦊" * 499 + "b")

    first = (await admin.get("/v2/accounts?limit=1")).json()
    second = await admin.get("/v2/accounts", params={"limit": 1, "cursor": first["next_cursor"]})

    assert (second.status_code, second.json()["items"][0]["username"][-1]) == (200, "b")


async def test_who_may_only_look_may_not_renew_or_give_back(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    held = await lease(admin)
    viewer = await home.caller(Role.VIEWER)

    for id_ in (held["id"], "lease_" + "0" * 31 + "1"):
        for verb, body in (("heartbeat", {}), ("release", {"outcome": "ok"})):
            problem = check_refused(await viewer.post(f"/v2/leases/{id_}/{verb}", json=body), 403, "permission-denied")
            assert problem["permission"] == "accounts.use"

    assert (await admin.post(f"/v2/leases/{held['id']}/heartbeat")).status_code == 200


async def test_another_organisations_lease_and_account_are_not_there(home: House, admin: httpx.AsyncClient) -> None:
    account = (await make(admin)).json()["id"]
    held = await lease(admin)
    stranger = await home.caller(organisation="strangers")
    path = f"/v2/leases/{held['id']}"

    check_refused(await stranger.post(f"{path}/heartbeat", json={}), 404, "lease-unknown")
    check_refused(await stranger.post(f"{path}/release", json={"outcome": "blocked"}), 404, "lease-unknown")
    check_refused(await stranger.delete(path), 404, "lease-unknown")
    assert (await stranger.delete("/v2/leases?owner=ann")).json() == {"revoked": 0}
    assert (await stranger.post("/v2/leases/heartbeat", json={"owner": "ann"})).json() == {"renewed": [], "lost": []}
    assert (await stranger.get("/v2/leases")).json()["items"] == await names(stranger) == []
    check_refused(await stranger.get(f"/v2/accounts/{account}/leases"), 404, "account-unknown")
    ask = {"site": "board", "owner": "x", "account_id": account}
    check_refused(await stranger.post("/v2/accounts/acquire", json=ask), 404, "site-unknown")
    await stranger.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
    nothing = (await stranger.post("/v2/accounts/acquire", json=ask)).json()
    assert (nothing["leases"], nothing["waiting"]["reason"]) == ([], "none_match")

    assert (await admin.post(f"{path}/heartbeat")).json()["fence"] == held["fence"]
