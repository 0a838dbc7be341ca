"""Boxes, a folder that names them, and whoever sweeps them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.auth import Tokens
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.sources import Sources, Standing, files
from tests.parts.boxes import Served, served
from tests.parts.postgres import TestDatabase
from tests.sources.standin import OUTLET, TABLES

JSON = dict[str, Any]
PATIENCE_S = 60.0
BOXES = ("stashdb", "fansdb", "javstash")


class World:
    """Some boxes and a process that sweeps them."""

    def __init__(self, sources: Sources, caller: Caller, served: Served, database: TestDatabase, folder: Path) -> None:
        self.sources = sources
        self.caller = caller
        self.served = served
        self.database = database
        self.folder = folder

    def declare(self, name: str, **more: object) -> None:
        self.served.declare(self.folder, name, **more)
        self.sources.catalogue.reload()

    async def begin(self, name: str, *, is_full: bool = False) -> "asyncio.Task[None]":
        task = await self.sources.take_up(self.caller, name, is_full=is_full)
        assert task is not None
        return task

    async def sweep(self, *names: str, is_full: bool = False) -> None:
        """Sweep some of them at once, and wait until each has ended somehow."""
        tasks = [await self.begin(name, is_full=is_full) for name in names]
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*tasks)

    async def get(self, name: str) -> Standing:
        return await self.sources.get(self.caller, name)

    async def until(self, name: str, word: str) -> Standing:
        async with asyncio.timeout(PATIENCE_S):
            while (standing := await self.get(name)).word != word:
                await asyncio.sleep(0.01)
        return standing

    def offered(self, source: str) -> Counter[str]:
        """How often each was handed over."""
        return Counter(row[0] for row in self.database.rows("SELECT source_id FROM offered WHERE source = %s", source))

    def item(self, source: str, source_id: str) -> JSON:
        """As it was handed over last."""
        rows = self.database.rows(
            "SELECT item FROM offered WHERE source = %s AND source_id = %s ORDER BY number DESC", source, source_id
        )
        found: JSON = rows[0][0]
        return found

    def sighted(self, source: str) -> set[str]:
        """Those that are thought to be there."""
        return {
            row[0]
            for row in self.database.rows(
                "SELECT source_id FROM source_sighting WHERE source = %s AND state = 'live'", source
            )
        }


@pytest.fixture
def boxes() -> Iterator[Served]:
    with served() as made:
        yield made


@pytest.fixture
async def it(database: TestDatabase, boxes: Served, tmp_path: Path) -> AsyncIterator[World]:
    for name in (*BOXES, "theporndb"):
        boxes.declare(tmp_path, name)
    database.run(TABLES)
    async with Database(database.url, pool_size=8) as db:
        caller = await Tokens(db).local_caller("default")
        sources = Sources(db, files(tmp_path), OUTLET, high_water_bytes=1000)
        try:
            yield World(sources, caller, boxes, database, tmp_path)
        finally:
            await sources.sweepers.close()
    database.run("DROP TABLE offered, retired, pressure")
