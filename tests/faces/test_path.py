"""Faces all the way: records over HTTP, pictures of real people, the duty, the graph, why, and erased at the end."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from leasehold.auth import Role
from leasehold.duties import OF_A_SERVER, Duty
from tests.entities.conftest import World, grouped
from tests.entities.test_linking import record
from tests.parts.faces import Gallery
from tests.parts.house import house
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Finding faces takes its time where others work, too.
PATIENCE_S = 120.0


@pytest_asyncio.fixture(loop_scope="module")
async def world(
    _worker_database: TestDatabase, people: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    """A house that looks at the pictures of two of its sources."""
    source = {"legal_basis": "consent, collected by the source", "retention_days": 30}
    said = {"embedders": [{"preset": "dlib"}], "canary": str(people), "sources": {"alpha": source, "beta": source}}
    file = tmp_path_factory.mktemp("faces") / "faces.yaml"
    file.write_text(json.dumps(said))
    _worker_database.empty()
    duties = {*OF_A_SERVER, Duty.FACES}
    async with house(_worker_database, duties=duties, faces_file=file, faces_allow_private=True) as home:
        yield World(home, home.client(await home.token(Role.ADMIN, "graph")), "graph")


async def until_looked_at(world: World, records: int) -> None:
    statement = "SELECT count(*) FROM source_record WHERE looked_at IS NOT NULL"
    async with asyncio.timeout(PATIENCE_S):
        while world.home.database.rows(statement) != [(records,)]:
            await asyncio.sleep(0.05)


async def stats(world: World) -> Any:
    return await world.ask("GET", "/v2/entities/stats")


async def test_a_face_decides_what_a_name_left_open_and_is_erased_with_its_person(
    world: World, gallery: Gallery, people: Path
) -> None:
    def shown(name: str) -> list[str]:
        return [gallery.show(f"/{name}", (people / name).read_bytes(), "image/jpeg")]

    await world.hand_over(
        record("alpha", "a1", "Ada Abbott", images=shown("obama-1.jpg")),
        record("beta", "b1", "Ada Abbott", images=shown("obama-2.jpg")),
        record("beta", "b2", "Ada Abbott", images=shown("biden-1.jpg")),
        record("alpha", "a2", "Zeno Quist", images=shown("obama-3.jpg")),
        record("gamma", "g1", "Ada Abbott", images=[f"{gallery.url}/of-a-source-that-did-not-ask.jpg"]),
    )
    await until_looked_at(world, 4)

    # A name and a face are enough; the face of another, a face alone, and a name alone are not.
    assert await world.groups() == grouped([["a1", "b1"], ["b2"], ["a2"], ["g1"]])
    assert [path for path, _ in gallery.came if "did-not-ask" in path] == []
    assert (await stats(world))["embeddings_added"] == 4
    assert (await stats(world))["linked_by_face"] == 1
    both = await world.home_of("a1")
    a, b = (one["id"] for one in both["records"])
    why = await world.ask("GET", f"/v2/entities/why?a={a}&b={b}")
    assert why["same_entity"] is True
    assert {part["field"] for part in why["evidence"]["parts"]} >= {"name", "face"}

    receipt = await world.ask("DELETE", f"/v2/entities/{both['id']}")

    assert receipt["also"]["vectors"] == 2
    assert world.home.database.rows("SELECT count(*) FROM faces.face") == [(2,)]
    assert world.home.database.rows("SELECT count(*) FROM edge_part WHERE field = 'face'") == [(0,)]
    assert await world.groups() == grouped([["b2"], ["a2"], ["g1"]])


async def test_more_is_linked_to_what_a_face_brought_together(world: World, gallery: Gallery, people: Path) -> None:
    def shown(name: str) -> list[str]:
        return [gallery.show(f"/{name}", (people / name).read_bytes(), "image/jpeg")]

    born = {"birthdate": "1990"}
    await world.hand_over(
        record("alpha", "a1", "Ada Abbott", attributes=born, images=shown("obama-1.jpg")),
        record("beta", "b1", "Ada Abbott", attributes=born, images=shown("obama-2.jpg")),
    )
    await until_looked_at(world, 2)
    both = await world.home_of("a1")

    await world.hand_over(record("gamma", "g1", "Ada Abbott", attributes=born, external_ids={"alpha": ["a1"]}))

    assert await world.groups() == grouped([["a1", "b1", "g1"]])
    assert (await world.home_of("g1"))["id"] == both["id"]
