"""A grant whose COMMIT went out and whose answer never came: whether PostgreSQL has it, nobody here can know."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.contracts.stage import Clock, MongoClock, PostgresClock, RawWay, Refused, Stage
from tests.parts.fuse import Fuse, When, fused
from tests.parts.house import house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

# In the transaction of every grant: that the account's secret was shown.
_STEP = "INSERT INTO audit_event"


@pytest.fixture
async def fuse(database: TestDatabase) -> AsyncIterator[Fuse]:
    async with fused(database.url) as made:
        yield made


@pytest.fixture(params=["postgres", "mongo"])
async def stage(request: pytest.FixtureRequest, database: TestDatabase, fuse: Fuse) -> AsyncIterator[Stage]:
    settings: dict[str, Any] = {}
    clock: Clock = PostgresClock(database)
    if request.param == "mongo":
        mongo: MongoDatabase = request.getfixturevalue("mongo_database")
        settings = {"pools": "mongo", "mongo_url": mongo.url.replace("/?", f"/{mongo.name}?")}
        clock = MongoClock(database, mongo)
    place = conninfo_to_dict(database.url)
    wired = TestDatabase(f"postgresql://{place['user']}@127.0.0.1:{fuse.port}/{place['dbname']}")
    async with house(wired, duties=(), **settings) as home:
        yield Stage(home, RawWay(home.client(await home.token())), clock, lambda: pytest.fail("one house is enough"))


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_repeat_under_its_key_is_given_one_lease_and_the_other_accounts_stay_free(
    stage: Stage, fuse: Fuse, when: When
) -> None:
    await stage.site()
    await stage.accounts("one", "two")
    fuse.set(_STEP, when)
    with pytest.raises(Refused) as refused:
        await stage.acquire(key="k1")
    assert refused.value.status == 503

    lease = await stage.acquire(key="k1")
    other = await stage.acquire()

    assert (await stage.acquire(key="k1"))["id"] == lease["id"]
    assert {one["id"] for one in await stage.leases()} == {lease["id"], other["id"]}


@pytest.mark.parametrize("when", ["before", "after"])
async def test_without_a_key_nobody_can_ask_for_it_again(stage: Stage, fuse: Fuse, when: When) -> None:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one")
    fuse.set(_STEP, when)
    with pytest.raises(Refused):
        await stage.acquire(ttl_seconds=60)

    await stage.passes(61)  # what was taken for nobody runs out at the latest

    assert await stage.acquire()
