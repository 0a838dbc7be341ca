"""A connection goes back to its pool, at whatever moment who borrowed it is stopped."""

import asyncio
from uuid import UUID

import pytest

from leasehold.db import Database
from tests.parts.postgres import TestDatabase

SOMEBODY = UUID(int=1)


async def ask(db: Database) -> int:
    async with db.transaction(SOMEBODY) as conn:
        row = await (await conn.execute("SELECT 1")).fetchone()
        return int(row[0]) if row else 0


def is_going_back() -> bool:
    return any(task.get_name() == "give-back" for task in asyncio.all_tasks())


async def test_one_that_is_just_going_back_is_not_lost_when_nobody_waits_for_it(database: TestDatabase) -> None:
    async with Database(database.url, pool_size=1) as db, asyncio.timeout(20):
        assert await ask(db) == 1
        asking = asyncio.create_task(ask(db))
        while not is_going_back():
            await asyncio.sleep(0)

        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

        assert await ask(db) == 1  # by the only one there is


async def test_none_is_lost_whenever_somebody_stops(database: TestDatabase) -> None:
    stopped = 0
    async with Database(database.url, pool_size=1) as db, asyncio.timeout(60):
        for moments in range(60):
            asking = asyncio.create_task(ask(db))
            for _ in range(moments):
                await asyncio.sleep(0)
            asking.cancel()
            stopped += isinstance((await asyncio.gather(asking, return_exceptions=True))[0], asyncio.CancelledError)

            assert await ask(db) == 1

    assert stopped > 5
