"""A page that takes longer than a driver may be silent: it is waited for, asked for once, and paid for once."""

import asyncio

import pytest

from leasehold.runs import grip
from tests.runs.conftest import PATIENCE_S, World
from tests.runs.shop import LISTING, PRICE


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grip, "BEAT_S", 0.05)


async def begun(it: World) -> str:
    """A run whose driver waits for its first page."""
    it.shop.listing_cost = LISTING
    it.shop.shelves.clear()
    run = await it.started()
    await it.until(run, lambda now: it.shop.listed)
    return run


async def until_true(it: World, statement: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while it.database.rows(statement) != [(True,)]:
            await asyncio.sleep(0.02)


async def test_who_waits_for_a_page_keeps_the_run(it: World) -> None:
    run = await begun(it)
    fence = it.database.rows("SELECT driver_fence FROM run")

    it.database.run("UPDATE run SET driver_until = clock_timestamp() + interval '5 seconds'")
    await until_true(it, "SELECT driver_until > clock_timestamp() + interval '6 seconds' FROM run")
    it.shop.shelves.set()
    done = await it.over(run)

    assert it.database.rows("SELECT driver_fence FROM run") == fence
    assert set(it.shop.listed.values()) == {1}
    assert done["actual_cost_micros"] == 45 * PRICE + 3 * LISTING


async def test_who_has_lost_the_run_does_not_wait_for_its_page(it: World) -> None:
    run = await begun(it)

    it.database.run("UPDATE run SET driver = gen_random_uuid(), driver_until = clock_timestamp() + interval '1 hour'")
    async with asyncio.timeout(PATIENCE_S):
        while not it.shop.left:
            await asyncio.sleep(0.02)
    it.shop.shelves.set()
    it.database.run("UPDATE run SET driver_until = clock_timestamp() - interval '1 second'")
    done = await it.over(run)

    assert sorted(it.shop.listed.values()) == [1, 1, 2]
    assert done["actual_cost_micros"] == 45 * PRICE + 4 * LISTING, "a page that was asked for may have been charged"


async def test_a_run_that_is_cancelled_does_not_wait_for_its_page(it: World) -> None:
    run = await begun(it)

    await it.act(run, "cancel")
    done = await it.until(run, lambda now: now["reserved_cost_micros"] == 0)

    assert (it.shop.left, done["status"], done["actual_cost_micros"]) == (1, "cancelled", LISTING)


async def test_what_is_over_is_settled_while_a_page_is_waited_for(it: World) -> None:
    it.shop.open.clear()
    run = await it.plan()
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 20})
    await it.act(run, "start")
    await it.until(run, lambda now: now["in_flight"] == 20)

    it.shop.shelves.clear()
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 200})
    await it.until(run, lambda now: len(it.shop.listed) == 2)
    it.shop.open.set()
    waiting = await it.until(run, lambda now: now["processed_items"] == 20)
    it.shop.shelves.set()
    done = await it.over(run)

    assert waiting["in_flight"] == 0
    assert done["processed_items"] == 45
