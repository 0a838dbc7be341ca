"""What tests of captures share: a house whose blobs are in a folder of the test's own, and a site."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase


@pytest.fixture
async def home(database: TestDatabase, tmp_path: Path) -> AsyncIterator[House]:
    async with house(database, data_dir=tmp_path) as made:
        yield made


@pytest.fixture
async def admin(home: House) -> httpx.AsyncClient:
    client = await home.caller()
    await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
    return client


@pytest.fixture
def blobs(home: House, tmp_path: Path) -> Path:
    return tmp_path / "blobs"
