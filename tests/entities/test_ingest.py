"""Five boxes and ThePornDB swept at once into one graph: the people are found, and stay found when a box changes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from leasehold.linking import score
from tests.parts.boxes import Served, served
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def boxes() -> Iterator[Served]:
    with served(people=200, count=5) as made:
        yield made


@pytest.fixture(scope="module")
def names(boxes: Served) -> list[str]:
    return [*boxes.boxes.boxes, "theporndb"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(
    _worker_database: TestDatabase, boxes: Served, names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    folder: Path = tmp_path_factory.mktemp("sources")
    for name in names:
        boxes.declare(folder, name)
    _worker_database.empty()
    async with house(_worker_database, sources_dir=folder) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(home: House) -> httpx.AsyncClient:
    return await home.caller()


async def sweep(api: httpx.AsyncClient, home: House, *names: str, full: bool = False) -> None:
    """Sweep these at once, and wait until all that came is written."""
    for name in names:
        (await api.post(f"/v2/sources/{name}/start", json={"full": full})).raise_for_status()
    async with asyncio.timeout(PATIENCE_S):
        for name in names:
            while (await api.get(f"/v2/sources/{name}")).json()["state"] != "idle":
                await asyncio.sleep(0.02)
        while home.database.rows("SELECT FROM record_queue"):
            await asyncio.sleep(0.02)


def found(home: House) -> dict[Any, list[tuple[str, str]]]:
    groups: dict[Any, list[tuple[str, str]]] = {}
    for source, source_id, entity in home.database.rows("SELECT source, source_id, entity FROM source_record"):
        groups.setdefault(entity, []).append((source, source_id))
    return groups


def state(home: House, source: str, source_id: str) -> tuple[Any, ...]:
    (row,) = home.database.rows(
        "SELECT state, entity FROM source_record WHERE source = %s AND source_id = %s", source, source_id
    )
    return tuple(row)


async def test_overlapping_people_of_all_boxes_are_found(
    api: httpx.AsyncClient, home: House, boxes: Served, names: list[str]
) -> None:
    await sweep(api, home, *names)

    truth = {
        (one["source"], one["source_id"]): who
        for who, records in boxes.boxes.truth(with_theporndb=True).items()
        for one in records
    }
    groups = found(home)
    assert {record for group in groups.values() for record in group} == set(truth)
    measured = score(truth, groups.values())
    assert measured.precision > 0.97
    assert measured.recall > 0.95
    stats = (await api.get("/v2/entities/stats")).json()
    assert stats["records_seen"] == sum(stats["outcomes"].values()) == len(truth)
    assert min(stats[f"linked_by_{step}"] for step in ("explicit_id", "external_url", "name_metadata")) > 0
    progress = (await api.get("/v2/sources/stashdb")).json()["progress"]
    linked = {name: count for name, count in stats["by_source"]["stashdb"].items() if name.startswith("linked")}
    assert progress["links"] == sum(linked.values())


async def test_what_a_box_merges_and_deletes_is_told_and_stays_where_it_was(
    api: httpx.AsyncClient, home: House, boxes: Served
) -> None:
    gone, kept, merged = sorted(boxes.live("fansdb"))[:3]
    before = state(home, "fansdb", gone)
    box = boxes.boxes.boxes["fansdb"]
    box.delete(gone)
    box.merge(merged, kept)

    await sweep(api, home, "fansdb", full=True)

    assert state(home, "fansdb", gone) == ("deleted", before[1])
    assert state(home, "fansdb", merged)[0] == "merged"
    # What the box says of its own rows is an id that both have.
    assert state(home, "fansdb", merged)[1] == state(home, "fansdb", kept)[1]
