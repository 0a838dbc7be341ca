"""Days on which calendars do something odd: leases run in UTC and notice nothing."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contracts.stage import JSON, PostgresClock, RawWay, Stage
from tests.parts.faketime import WallClock
from tests.parts.house import house
from tests.parts.postgres import Postgres, TestDatabase

# What happens, where the server stands, and the last second before, in UTC.
DAYS = {
    "a year ends": ("UTC", datetime(2027, 12, 31, 23, 59, 59, tzinfo=UTC)),
    "a leap day begins": ("UTC", datetime(2028, 2, 28, 23, 59, 59, tzinfo=UTC)),
    "a leap second was": ("UTC", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    "summer time begins": ("Europe/Berlin", datetime(2027, 3, 28, 0, 59, 59, tzinfo=UTC)),
    "summer time ends": ("Europe/Berlin", datetime(2027, 10, 31, 0, 59, 59, tzinfo=UTC)),
    "32 bits are full": ("UTC", datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)),
}


# How long before a server is begun: on a busy machine once more, with more time until its first lease.
BEFORE, AFTER = (timedelta(seconds=4), timedelta(seconds=15), timedelta(seconds=60)), timedelta(seconds=3)
TTL_S = 90


@pytest.fixture(params=DAYS)
def moment(request: pytest.FixtureRequest) -> Iterator[tuple[str, datetime]]:
    zone, at = DAYS[request.param]
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    yield zone, at
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@asynccontextmanager
async def begun(at: datetime, wall: WallClock, database: TestDatabase) -> AsyncIterator[Stage]:
    """A server that is begun at a time, with one account."""
    wall.jump_to(0)
    database.empty()
    wall.jump_to((at - datetime.now(UTC)).total_seconds())
    async with house(database) as home:
        await home.app.state.background.stop()
        token = await home.token()
        made = Stage(home, RawWay(home.client(token)), PostgresClock(database), lambda: pytest.fail("one is enough"))
        await made.site(reclaim_delay_seconds=0)
        await made.accounts("ann")
        yield made
    wall.jump_to(0)


@pytest.fixture
async def held(
    moment: tuple[str, datetime], odd_postgres: tuple[Postgres, WallClock], odd_database: TestDatabase
) -> AsyncIterator[tuple[Stage, JSON]]:
    """A lease that was granted shortly before, and where."""
    for before in BEFORE:
        async with begun(moment[1] - before, odd_postgres[1], odd_database) as stage:
            (lease,) = (await stage.ask(ttl_seconds=TTL_S))["leases"]
            if now_of(stage) < moment[1] + timedelta(seconds=1):
                yield stage, lease
                return
    pytest.fail("it was over before there was a lease")


def now_of(stage: Stage) -> datetime:
    ((now,),) = stage.home.database.rows("SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    return now


async def test_a_lease_outlives_it_and_lives_no_longer(held: tuple[Stage, JSON], moment: tuple[str, datetime]) -> None:
    stage, lease = held
    while now_of(stage) < moment[1] + AFTER:
        await asyncio.sleep(0.2)

    renewed = await stage.beat(lease)

    left = datetime.fromisoformat(renewed["expires_at"]) - now_of(stage)
    assert timedelta(seconds=TTL_S * 2 / 3) < left <= timedelta(seconds=TTL_S)
    assert (await stage.waiting(owner="bob"))["counts"]["using"] == 1
    seen: list[Any] = stage.home.database.rows("SELECT expires_at - acquired_at FROM lease")
    assert timedelta(seconds=TTL_S) <= seen[0][0] < timedelta(seconds=3 * TTL_S)
    await stage.release(lease)
    assert stage.home.database.rows("SELECT how FROM lease_end") == [("released",)]
    assert stage.home.database.rows("SELECT FROM clock_jump") == []
