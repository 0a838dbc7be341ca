"""The workers of the shipped collectors: what takes long is kept, and what is in hand when they stop is finished."""

import asyncio

import pytest

from leasehold.runs import workers
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import World, world
from tests.runs.shop import Shop


async def test_an_item_that_takes_longer_than_its_lease_is_asked_for_once(
    it: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_TTL_S", 5)
    monkeypatch.setattr(workers, "_BEAT_S", 1.0)
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 3
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: len(it.shop.asked) == 3)

    await asyncio.sleep(7)
    it.shop.open.set()
    done = await it.over(run)

    assert done["processed_items"] == 3
    assert set(it.shop.asked.values()) == {1}
    assert it.database.rows("SELECT DISTINCT losses FROM task") == [(0,)]


async def test_who_stops_finishes_what_is_paid_for(database: TestDatabase) -> None:
    shop = Shop(toys=3)
    shop.open.clear()
    async with world(database, shop) as first:
        run = await first.started()
        await first.until(run, lambda now: len(shop.asked) == 3)
        asyncio.get_running_loop().call_later(0.5, shop.open.set)
    async with world(database, shop) as second:
        done = await second.over(run)

    assert done["processed_items"] == 3
    assert set(shop.asked.values()) == {1}
