"""A provider that is down pauses its runs; they go on by themselves, and nothing is lost, failed or paid for twice."""

import asyncio
from uuid import UUID

from tests.runs.conftest import PATIENCE_S, World
from tests.runs.shop import PRICE


async def test_an_outage_pauses_and_its_end_resumes(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 100
    it.shop.is_down = False
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: it.shop.asked)
    it.shop.is_down = True
    it.shop.open.set()

    paused = await it.until(run, lambda now: now["status"] == "paused")
    tried = sum(it.shop.asked.values())
    it.shop.is_down = False
    done = await it.over(run)

    assert paused["pause_reason"] == "provider_down"
    assert "shop is down" in paused["pause_detail"]
    assert (done["processed_items"], done["failed_items"]) == (100, 0)
    assert done["actual_cost_micros"] == 100 * PRICE
    assert await it.told(run) == ["created", "wanted", "started", "paused", "resumed", "completed"]
    assert tried < 100, "it went on trying while nothing was to be had"


async def test_a_listing_that_is_not_to_be_had_pauses_too(it: World) -> None:
    it.shop.is_down = True
    run = await it.started()

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert (paused["pause_reason"], paused["failed_items"]) == ("provider_down", 0)
    it.shop.is_down = False
    assert (await it.over(run))["processed_items"] == 45


async def outage(it: World, run: str) -> None:
    """The provider goes down while items are in hand, and its breaker opens."""
    await it.until(run, lambda now: it.shop.asked)
    it.shop.is_down = True
    it.shop.open.set()
    await it.until(run, lambda now: now["pause_reason"] == "provider_down")
    assert it.database.rows("SELECT count(*) FROM platform_breaker") == [(1,)]


def probe_now(it: World) -> None:
    """As if the time had passed after which one item tries it again."""
    it.database.run("UPDATE platform_breaker SET probe_at = clock_timestamp()")


def go_on_now(it: World, run: str) -> None:
    """As if the time had passed after which a run with nothing in hand goes on to try it."""
    it.database.run("UPDATE run SET resume_at = clock_timestamp() WHERE id = %s AND resume_at IS NOT NULL", uuid(run))


def uuid(run: str) -> UUID:
    return UUID(run.removeprefix("run_"))


async def in_an_outage(it: World) -> None:
    """The provider is down, and nothing is left that could try it."""
    it.database.run("DELETE FROM platform_tally")  # what went well before
    it.shop.asked.clear()
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: now["in_flight"] == 45)
    await outage(it, run)
    await it.act(run, "cancel")
    await it.over(run, "cancelled")
    it.shop.asked.clear()


async def test_a_run_that_begins_in_an_outage_tries_the_provider_itself(it: World) -> None:
    it.shop.is_listing = True
    await in_an_outage(it)

    run = await it.started()
    paused = await it.until(run, lambda now: now["status"] == "paused")
    it.shop.is_down = False
    probe_now(it)
    done = await it.over(run)

    assert (paused["pause_reason"], paused["in_flight"]) == ("provider_down", 1)
    assert done["processed_items"] == 45
    assert await it.told(run) == ["created", "wanted", "started", "paused", "resumed", "completed"]
    assert it.database.rows("SELECT FROM platform_breaker") == []


async def test_one_that_could_not_even_be_listed_goes_on_by_itself(it: World) -> None:
    await in_an_outage(it)

    run = await it.started()
    paused = await it.until(run, lambda now: now["status"] == "paused")
    it.shop.is_down = False
    async with asyncio.timeout(PATIENCE_S):
        while it.database.rows("SELECT FROM platform_breaker"):
            go_on_now(it, run)
            probe_now(it)
            await asyncio.sleep(0.1)
    done = await it.over(run)

    assert (paused["pause_reason"], paused["in_flight"]) == ("provider_down", 0)
    assert done["processed_items"] == 45


async def test_a_run_that_lost_what_it_tried_with_tries_with_another(it: World) -> None:
    it.shop.open.clear()
    run = await it.plan()
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 20})
    await it.act(run, "start")
    await it.until(run, lambda now: now["in_flight"] == 20)
    await outage(it, run)
    for job in (await it.client.get("/v2/jobs", params={"status": "pending", "limit": 500})).json()["items"]:
        await it.client.post(f"/v2/jobs/{job['id']}/cancel")
    await it.until(run, lambda now: now["in_flight"] == 0)
    it.shop.is_down = False
    async with asyncio.timeout(PATIENCE_S):
        while it.database.rows("SELECT FROM platform_breaker"):
            go_on_now(it, run)
            probe_now(it)
            await asyncio.sleep(0.1)
    done = await it.over(run)

    assert done["skipped_items"] > 0
    assert done["skipped_items"] + done["processed_items"] == 45


async def test_what_is_tried_again_in_an_outage_begins_with_one(it: World) -> None:
    it.shop.bad = {3, 7}
    run = await it.started()
    await it.over(run)
    it.shop.bad = set()
    await in_an_outage(it)

    await it.client.post(f"/v2/runs/{run}/retry", json={})
    paused = await it.until(run, lambda now: now["status"] == "paused")
    it.shop.is_down = False
    probe_now(it)
    done = await it.over(run)

    assert paused["in_flight"] == 1
    assert done["processed_items"] == 45
