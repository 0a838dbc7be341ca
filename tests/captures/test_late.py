"""Whether a capture is late, when the lease it was collected under is in the other store."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from tests.contracts.stage import MongoClock
from tests.parts.house import house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.uploads import upload


@pytest.fixture
async def admin(database: TestDatabase, mongo_database: MongoDatabase) -> AsyncIterator[httpx.AsyncClient]:
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    async with house(database, pools="mongo", mongo_url=url) as made:
        client = await made.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
        await client.post("/v2/accounts", json={"site": "board", "username": "ann", "secret": {}})
        yield client


async def test_a_lease_in_mongodb_that_lives_ended_or_never_was(
    admin: httpx.AsyncClient, database: TestDatabase, mongo_database: MongoDatabase
) -> None:
    asked = {"site": "board", "owner": "me"}
    lease = (await admin.post("/v2/accounts/acquire", json=asked)).json()["leases"][0]["id"]

    during = await upload(admin, lease_id=lease)
    await admin.post(f"/v2/leases/{lease}/release", json={"outcome": "ok"})
    after = await upload(admin, lease_id=lease)
    never = await upload(admin, lease_id=lease[:-5] + ("00001" if lease[-5:] != "00001" else "00011"))

    assert (during.status_code, during.json()["late"]) == (201, False)
    assert (after.status_code, after.json()["late"]) == (201, True)
    assert (never.status_code, never.json()["type"]) == (404, "/problems/lease-unknown")


async def test_a_lease_in_mongodb_that_ran_out(
    admin: httpx.AsyncClient, database: TestDatabase, mongo_database: MongoDatabase
) -> None:
    asked = {"site": "board", "owner": "me"}
    lease = (await admin.post("/v2/accounts/acquire", json=asked)).json()["leases"][0]["id"]
    await MongoClock(database, mongo_database).pass_(timedelta(hours=1))

    answer = await upload(admin, lease_id=lease)

    assert (answer.status_code, answer.json()["late"]) == (201, True)
