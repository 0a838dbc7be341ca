"""A provider that is down pauses its runs; they go on by themselves, and nothing is lost, failed or paid for twice."""

from tests.runs.conftest import World
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
