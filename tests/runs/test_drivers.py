"""One driver for a run, whichever process is alive: the one that falls silent is replaced, and cannot come back."""

import asyncio

import pytest

from leasehold.runs.driver import Driver
from leasehold.runs.grip import NotTheDriver
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import UNBALANCED, world
from tests.runs.shop import Shop


async def test_another_process_goes_on_at_once_when_one_stops(database: TestDatabase, shop: Shop) -> None:
    shop.sizes["toys"] = shop.wanted["toys"] = 200
    async with world(database, shop) as second:
        async with world(database, shop) as first:
            run = await first.started()
            await first.until(run, lambda now: now["processed_items"])
        done = await second.over(run)

    assert done["processed_items"] == 200
    assert set(shop.asked.values()) == {1}
    assert database.rows(UNBALANCED) == []


async def test_a_driver_that_fell_silent_is_replaced_and_changes_nothing(database: TestDatabase, shop: Shop) -> None:
    shop.sizes["toys"] = shop.wanted["toys"] = 200
    shop.open.clear()
    async with world(database, shop) as it:
        run = await it.started()
        await it.until(run, lambda now: now["in_flight"])
        (drivers,) = [task for task in it.home.app.state.background.tasks if task.name == "runs"]
        mine = drivers.step.__self__
        (silent,) = mine._driven.values()
        before = database.rows("SELECT driver_fence FROM run")[0][0]
        database.run(
            "UPDATE run SET driver_until = clock_timestamp() - interval '1 second', driver = gen_random_uuid()"
        )

        with pytest.raises(NotTheDriver):
            await _driver_of(silent).step()
        shop.open.set()
        done = await it.over(run)

        assert database.rows("SELECT driver_fence FROM run")[0][0] > before
        assert done["processed_items"] == 200
        assert set(shop.asked.values()) == {1}
        told = [event for event in await it.events(run) if event["type"] == "resumed"]
        assert [event["reason"] for event in told] == ["server_restart"]


def _driver_of(task: "asyncio.Task[None]") -> Driver:
    found = task.get_coro().cr_frame.f_locals["self"]  # type: ignore[union-attr]
    assert isinstance(found, Driver)
    return found
