"""Sources over HTTP, swept by the server that was asked to start them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.parts.boxes import KEY, Served, served
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.sources.standin import OUTLET, TABLES

# One house for all of it.
pytestmark = pytest.mark.asyncio(loop_scope="module")
JSON = dict[str, Any]


@pytest.fixture(scope="module")
def boxes() -> Iterator[Served]:
    with served(people=60) as made:
        yield made


@pytest.fixture(scope="module")
def folder(boxes: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sources")
    boxes.declare(made, "stashdb", priority=8)
    boxes.declare(made, "fansdb", rate_limit=60)
    boxes.declare(made, "javstash", enabled="false")
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase, folder: Path) -> AsyncIterator[House]:
    _worker_database.empty()
    _worker_database.run(TABLES)
    async with house(_worker_database, outlet=OUTLET, sources_dir=folder) as made:
        yield made
    _worker_database.run("DROP TABLE offered, retired, pressure")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(home: House) -> httpx.AsyncClient:
    return await home.caller()


async def until(api: httpx.AsyncClient, name: str, state: str) -> JSON:
    async with asyncio.timeout(30):
        while (found := (await api.get(f"/v2/sources/{name}")).json())["state"] != state:
            await asyncio.sleep(0.02)
    return dict(found)


async def test_every_source_is_listed_and_no_key_is_shown(api: httpx.AsyncClient) -> None:
    answer = await api.get("/v2/sources")

    found = {one["name"]: one for one in answer.json()["items"]}
    assert KEY not in answer.text
    assert {name: one["kind"] for name, one in found.items()} == {
        "stashdb": "stashbox",
        "fansdb": "stashbox",
        "javstash": "stashbox",
        "runs": "runs",
    }
    assert found["stashdb"]["state"] == "idle"
    assert found["stashdb"]["priority"] == 8
    assert found["stashdb"]["next_step"] == "Start it: everything it has is read once."
    assert found["javstash"]["enabled"] is False
    assert "enabled: true" in found["javstash"]["next_step"]


async def test_a_source_that_is_started_is_swept(api: httpx.AsyncClient, boxes: Served) -> None:
    started = await api.post("/v2/sources/stashdb/start")
    done = await until(api, "stashdb", "idle")

    count = len(boxes.live("stashdb"))
    assert started.json()["state"] == "sweeping"
    assert started.json()["next_step"].endswith("goes on at page 1.")
    assert done["progress"] | {"pages": 0, "per_second": 0} == {
        "seen": count,
        "expected": count,
        "pages": 0,
        "handed_over": count,
        "gone": 0,
        "queued_bytes": 0,
        "links": 0,
        "errors": 0,
        "per_second": 0,
    }
    assert done["last_sweep"]["mode"] == "full"
    assert done["next_step"] == "Start it to read what has changed since the last sweep."
    assert done["last_error"] is None


async def test_a_source_that_is_stopped_waits_for_a_start(api: httpx.AsyncClient) -> None:
    await api.post("/v2/sources/fansdb/start", json={"full": True})
    again = await api.post("/v2/sources/fansdb/start")

    stopped = await api.post("/v2/sources/fansdb/stop")
    twice = await api.post("/v2/sources/fansdb/stop")

    assert again.status_code == 200
    assert [one.json()["state"] for one in (stopped, twice)] == ["paused", "paused"]
    assert stopped.json()["next_step"] == "Start it: it goes on at page 1."


async def test_dead_letters_are_listed_page_by_page(api: httpx.AsyncClient, boxes: Served) -> None:
    for one in sorted(boxes.live("stashdb"))[:3]:
        boxes.boxes.boxes["stashdb"].spoil(one)
    await api.post("/v2/sources/stashdb/start")
    await until(api, "stashdb", "idle")

    first = (await api.get("/v2/sources/stashdb/dead-letters?limit=2")).json()
    rest = (await api.get(f"/v2/sources/stashdb/dead-letters?limit=2&cursor={first['next_cursor']}")).json()

    assert [len(first["items"]), len(rest["items"]), rest["next_cursor"]] == [2, 1, None]
    assert {one["reason"] for one in first["items"]} == {"Not taken: it has no name."}
    assert first["items"][0]["id"].startswith("letter_")


async def test_what_cannot_be_swept_is_refused(api: httpx.AsyncClient) -> None:
    answers = [await api.post(f"/v2/sources/{name}/start") for name in ("nobody", "javstash", "runs")]

    assert [(one.status_code, one.json()["type"]) for one in answers] == [
        (404, "/problems/source-unknown"),
        (409, "/problems/source-off"),
        (409, "/problems/source-off"),
    ]


async def test_sources_are_everybodys_and_how_far_they_are_is_ones_own(home: House, api: httpx.AsyncClient) -> None:
    stranger = await home.caller(organisation="strangers")

    theirs = (await stranger.get("/v2/sources/stashdb")).json()

    assert theirs["last_sweep"] is None
    assert theirs["progress"]["seen"] == 0
    assert (await stranger.get("/v2/sources/stashdb/dead-letters")).json()["items"] == []
