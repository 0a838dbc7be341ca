"""One driver for a run, whichever process is alive: the one that falls silent is replaced, and cannot come back."""

import asyncio

import pytest

from leasehold.runs import drivers
from leasehold.runs.driver import Driver
from leasehold.runs.grip import NotTheDriver
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import PATIENCE_S, UNBALANCED, World, world
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
        (looking,) = [task for task in it.home.app.state.background.tasks if task.name == "runs"]
        mine = looking.step.__self__
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
        assert told[0]["in_flight"] > 0
        assert "replayed" not in told[0], "how many will be begun again is not known before their leases run out"


async def test_neither_runs_that_rest_nor_those_in_hand_keep_another_from_being_driven(
    database: TestDatabase, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "_MOST_RUNS", 1)
    async with world(database, shop) as it:
        resting = [await it.plan() for _ in range(2)]
        database.run(
            "UPDATE run SET status = 'paused', pause_reason = 'operator',"
            " wanted_at = clock_timestamp() - interval '1 day'"
        )
        shop.open.clear()
        in_hand = await it.started()
        await it.until(in_hand, lambda now: now["in_flight"] == 45)

        another = await it.started()
        await it.until(another, lambda now: now["in_flight"] == 45)
        shop.open.set()

        assert [(await it.over(run))["processed_items"] for run in (in_hand, another)] == [45, 45]
        assert [(await it.get(run))["status"] for run in resting] == ["paused", "paused"]


async def test_a_run_that_rests_is_driven_by_nobody_until_there_is_something_to_do(it: World) -> None:
    it.shop.sizes["books"] = it.shop.wanted["books"] = 60
    it.shop.open.clear()
    run = await it.started("toys", "books")
    await it.until(run, lambda now: now["in_flight"] == 105 and it.shop.asked)
    await it.act(run, "pause")
    it.shop.open.set()
    await it.until(run, lambda now: now["sub_status"] is None)
    async with asyncio.timeout(PATIENCE_S):
        while it.database.rows("SELECT FROM run WHERE driver IS NOT NULL"):
            await asyncio.sleep(0.02)

    await it.client.patch(f"/v2/runs/{run}", json={"drop_categories": ["books"]})
    dropped = await it.until(run, lambda now: now["skipped_items"] == 60 and now["sub_status"] is None)
    await it.act(run, "resume")
    done = await it.over(run)

    assert dropped["status"] == "paused"
    assert (done["processed_items"], set(it.shop.asked.values())) == (45, {1})


def _driver_of(task: "asyncio.Task[None]") -> Driver:
    found = task.get_coro().cr_frame.f_locals["self"]  # type: ignore[union-attr]
    assert isinstance(found, Driver)
    return found
