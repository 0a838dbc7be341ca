"""Every promise on every store, and through the SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from leasehold.app import edged
from leasehold.client import AsyncLeasehold
from tests.contracts.stage import Clock, MongoClock, PostgresClock, RawWay, SdkWay, Stage
from tests.parts.house import house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

WAYS = ["postgres-http", "postgres-sdk", "mongo-http", "mongo-sdk"]


@pytest.fixture(params=WAYS)
async def stage(request: pytest.FixtureRequest, database: TestDatabase) -> AsyncIterator[Stage]:
    """A leasehold on a store, spoken to in a way."""
    store, way = request.param.split("-")
    settings: dict[str, Any] = {}
    clock: Clock = PostgresClock(database)
    if store == "mongo":
        mongo: MongoDatabase = request.getfixturevalue("mongo_database")
        settings = {"pools": "mongo", "mongo_url": mongo.url.replace("/?", f"/{mongo.name}?")}
        clock = MongoClock(database, mongo)

    @asynccontextmanager
    async def play(token: str | None = None) -> AsyncIterator[Stage]:
        async with house(database, **settings) as home:
            shown = token or await home.token()
            raw = RawWay(home.client(shown))
            transport = httpx.ASGITransport(app=edged(home.app), raise_app_exceptions=False)
            async with AsyncLeasehold("http://leasehold", shown, transport=transport) as sdk:
                spoken = raw if way == "http" else SdkWay(sdk, raw)
                yield Stage(home, spoken, clock, lambda: play(shown))

    async with play() as played:
        yield played
