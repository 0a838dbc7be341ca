"""Every operation against every kind of caller: the matrix is made from the API's own description."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from leasehold.app import build
from leasehold.auth import PERMISSIONS, Permission, Role
from leasehold.door import ANY_CALLER, PERMISSION_FIELD, PUBLIC
from leasehold.problems import MEDIA_TYPE, Problem
from leasehold.settings import Settings
from tests.parts.house import KEYS, House, house
from tests.parts.postgres import TestDatabase
from tests.parts.uploads import upload

# One house for all: nothing that is asked here changes anything that another asks for.
pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENT: dict[str, Any] = build(Settings(), "postgresql://nowhere/nothing", KEYS).openapi()
OPERATIONS = [
    (method.upper(), path, operation[PERMISSION_FIELD])
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]
GUARDED = [operation for operation in OPERATIONS if operation[2] not in (PUBLIC, ANY_CALLER)]
ABOUT_ONE_THING = [operation for operation in GUARDED if "{" in operation[1]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def names(home: House) -> dict[str, str]:
    """One thing of each kind that can stand in a path, all of one organisation."""
    return await things(home)


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
async def test_another_organisations_things_are_not_there(
    home: House, names: dict[str, str], method: str, path: str, permission: str
) -> None:
    """With every permission at home, a stranger gets for our things just what it gets for things that never were."""
    stranger = await home.caller(organisation="strangers")
    bodies = {
        "/v2/sites/{slug}/moves": {"to": "b.example"},
        "/v2/jobs/{job_id}/dead-letter": {"reason": "no use"},
        "/v2/platforms/{platform_slug}/limits": {"concurrency": 1, "reason": "because"},
        "/v2/platforms/{platform_slug}/phase": {"phase": "dual"},
        "/v2/sessions/{account_id}/rollback": {"version": 1},
        "/v2/sessions/{account_id}/undo": {"upload_id": "u1"},
        "/v2/sessions/{account_id}/asides/{upload_id}": {"decision": "take"},
        "/v2/entities/{entity_id}/split": {"record_ids": ["rec_" + "0" * 32]},
        "/v2/entities/reviews/{review_id}": {"decision": "same"},
    }
    path_here = re.sub(r"\{(\w+)\}", lambda match: names[match[1]], path)

    answer = await stranger.request(method, path_here, json=bodies.get(path, {}))

    assert answer.status_code == 404
    check_problem(answer)


async def _graph(admin: httpx.AsyncClient) -> dict[str, str]:
    """Two records that may be one: an entity, a question about it, and the weights it was asked by."""
    ann = {"kind": "performer", "name": "Ann Onymous", "attributes": {"birthdate": "1990"}}
    items = [{"source": source, "source_id": "1", **ann} for source in ("one", "other")]
    batch = (await admin.post("/v2/entities/records", json={"items": items})).json()["batch"]
    async with asyncio.timeout(30):
        while (await admin.get(f"/v2/entities/batches/{batch}")).json()["state"] != "done":
            await asyncio.sleep(0.02)
    (question,) = (await admin.get("/v2/entities/reviews")).json()["items"]
    (epoch,) = (await admin.get("/v2/entities/epochs")).json()["items"]
    return {
        "batch_id": batch,
        "review_id": question["id"],
        "entity_id": question["entities"][0],
        "kind": epoch["kind"],
        "number": str(epoch["number"]),
    }


async def things(home: House) -> dict[str, str]:
    """One of everything that a path can name, in one organisation."""
    admin = await home.caller()
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
    plan = {"collector": "amazon", "categories": ["toys"]}
    names["run_id"] = (await admin.post("/v2/runs", json=plan)).json()["id"]
    names |= await _graph(admin)
    names["job_id"] = (await admin.post("/v2/jobs", json=VIDEO)).json()["id"]
    names["platform_slug"] = "nowhere"  # platforms are everybody's
    names["source_name"] = "nowhere"  # and so are sources
    names["capture_id"] = (await upload(admin, {"a": b"1"}, site="ours")).json()["id"]
    names["name"] = "a"
    return names
