"""What items brought is read where their platform has it written, and counted once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from leasehold.collectors import Collected
from leasehold.platforms import SHIPPED
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import PATIENCE_S, UNBALANCED, World, world
from tests.runs.shop import PRICE, Shop


class Sellers(Shop):
    """A shop that says who sells a thing."""

    async def collect(self, payload: dict[str, Any]) -> Collected:
        self.asked[payload["asin"]] += 1
        await self.open.wait()
        name = f"Seller {payload['asin']}"
        return Collected([{"username": name, "normalised_name": name.lower()}], PRICE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, writer: str) -> None:
    text = (SHIPPED / "amazon.yaml").read_text().replace("results: {handler: amazon}", "results: {}")
    (folder / "amazon.yaml").write_text(f"{text}writer: {writer}\n")


async def sellers(it: World) -> list[int]:
    """How often each was seen."""
    await it.entities_are_written()
    found = (await it.client.get("/v2/entities?kind=seller&limit=500")).json()["items"]
    return [one["times_seen"] for one in found]


async def test_what_was_written_to_mongo_is_found_there(
    database: TestDatabase, folder: Path, mongo_database: MongoDatabase
) -> None:
    write(folder, "{target: mongo}")
    host, _, options = mongo_database.url.partition("?")
    url = f"{host}{mongo_database.name}?{options}"
    async with world(database, Sellers(toys=3), platforms_dir=folder, mongo_url=url) as it:
        run = await it.started()
        done = await it.over(run)
        names = [item["data"].get("username") for item in await it.items(run)]

        assert done["processed_items"] == 3
        assert names == [f"Seller {number:010d}" for number in range(3)]
        assert await sellers(it) == [1, 1, 1]
    assert database.rows("SELECT FROM result") == []
    assert database.rows(UNBALANCED) == []


async def test_what_is_written_beside_it_to_be_compared_is_not_seen_twice(database: TestDatabase, folder: Path) -> None:
    write(folder, "{target: postgres, shadow: postgres}")
    shop = Sellers(toys=3)
    async with world(database, shop, platforms_dir=folder) as it:
        shop.open.clear()
        run = await it.started()
        await it.until(run, lambda now: len(shop.asked) == 3)
        with database.connect() as other, other.transaction():
            other.execute("SELECT FROM run FOR UPDATE")  # nothing is settled before all of it is written
            shop.open.set()
            async with asyncio.timeout(PATIENCE_S):
                while len(database.rows("SELECT FROM result")) < 6:
                    await asyncio.sleep(0.02)
        await it.over(run)

        assert len(database.rows("SELECT FROM result WHERE space = 'shadow'")) == 3
        assert ["username" in item["data"] for item in await it.items(run)] == [True] * 3
        assert await sellers(it) == [1, 1, 1]
