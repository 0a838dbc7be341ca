"""Every operation against every kind of caller: the matrix is made from the API's own description."""

import re
from typing import Any

import httpx
import pytest

from leasehold.app import build
from leasehold.auth import PERMISSIONS, Permission, Role
from leasehold.door import ANY_CALLER, PERMISSION_FIELD, PUBLIC
from leasehold.problems import MEDIA_TYPE, Problem
from leasehold.settings import Settings
from tests.parts.house import KEYS, House
from tests.parts.uploads import upload

DOCUMENT: dict[str, Any] = build(Settings(), "postgresql://nowhere/nothing", KEYS).openapi()
OPERATIONS = [
    (method.upper(), path, operation[PERMISSION_FIELD])
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]
GUARDED = [operation for operation in OPERATIONS if operation[2] not in (PUBLIC, ANY_CALLER)]
ABOUT_ONE_THING = [operation for operation in GUARDED if "{" in operation[1]]


VIDEO = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}


def every(operations: list[tuple[str, str, str]]) -> pytest.MarkDecorator:
    ids = [f"{method} {path}" for method, path, _ in operations]
    return pytest.mark.parametrize(("method", "path", "permission"), operations, ids=ids)


def check_problem(answer: httpx.Response) -> None:
    """The one shape of every refusal, whoever gets it and wherever."""
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = answer.json()
    assert problem["type"].removeprefix("/problems/") in Problem.kinds
    assert (problem["status"], problem["request_id"]) == (answer.status_code, answer.headers["x-request-id"])
    assert problem["title"]
    assert problem["detail"]


async def call(client: httpx.AsyncClient, method: str, path: str) -> httpx.Response:
    """The operation on something that is not there, with a body it must refuse: what matters comes before that."""
    filled = re.sub(r"\{\w+\}", "nothing-here", path)
    body: dict[str, Any] = {"json": []} if method in ("POST", "PUT", "PATCH") else {}
    return await client.request(method, filled, **body)


@every(OPERATIONS)
async def test_who_has_no_token_gets_401_and_nothing_else(home: House, method: str, path: str, permission: str) -> None:
    for client in (home.client(), home.client("lh_" + "0" * 42), home.client("nonsense")):
        answer = await call(client, method, path)

        assert (answer.status_code == 401) == (permission != PUBLIC), answer.text
        if answer.is_error:
            check_problem(answer)


@every(OPERATIONS)
async def test_every_role_may_what_its_permissions_say(home: House, method: str, path: str, permission: str) -> None:
    for role in Role:
        answer = await call(await home.caller(role), method, path)

        may = permission in (PUBLIC, ANY_CALLER) or permission in PERMISSIONS[role]
        assert (answer.status_code != 403) == may, f"{role}: {answer.text}"
        if not may:
            assert answer.json()["permission"] == permission
        if answer.is_error:
            check_problem(answer)


@every(GUARDED)
async def test_every_permission_but_the_one_is_not_enough(home: House, method: str, path: str, permission: str) -> None:
    admin = await home.caller()
    others = [str(other) for other in Permission if other != permission]
    made = (await admin.post("/v2/tokens", json={"name": "all but one", "permissions": others})).json()

    answer = await call(home.client(made["token"]), method, path)

    assert answer.status_code == 403
    check_problem(answer)


@every(ABOUT_ONE_THING)
async def test_another_organisations_things_are_not_there(home: House, method: str, path: str, permission: str) -> None:
    """With every permission at home, a stranger gets for our things just what it gets for things that never were."""
    admin, stranger = await home.caller(), await home.caller(organisation="strangers")
    await admin.post("/v2/sites", json={"slug": "ours", "domain": "ours.example"})
    token = (await admin.post("/v2/tokens", json={"name": "ours", "role": "viewer"})).json()["id"]
    account = {"site": "ours", "username": "ann", "secret": {}}
    seed = {"items": [{"site": "ours", "url": "https://ours.example/"}]}
    names = {
        "seed_id": (await admin.post("/v2/seeds", json=seed)).json()["items"][0]["id"],
        "slug": "ours",
        "upload_id": "u1",
        "token_id": token,
        "account_id": (await admin.post("/v2/accounts", json=account)).json()["id"],
        "lease_id": (await admin.post("/v2/accounts/acquire", json={"site": "ours", "owner": "us"})).json()["leases"][
            0
        ]["id"],
    }
    names["job_id"] = (await admin.post("/v2/jobs", json=VIDEO)).json()["id"]
    names["platform_slug"] = "nowhere"  # platforms are everybody's
    names["capture_id"] = (await upload(admin, {"a": b"1"}, site="ours")).json()["id"]
    names["name"] = "a"
    bodies = {
        "/v2/sites/{slug}/moves": {"to": "b.example"},
        "/v2/sessions/{account_id}/rollback": {"version": 1},
        "/v2/sessions/{account_id}/undo": {"upload_id": "u1"},
        "/v2/sessions/{account_id}/asides/{upload_id}": {"decision": "take"},
    }
    path_here = re.sub(r"\{(\w+)\}", lambda match: names[match[1]], path)

    answer = await stranger.request(method, path_here, json=bodies.get(path, {}))

    assert answer.status_code == 404
    check_problem(answer)
