"""What nobody expected is tried again later and later; in the end the run is paused. No page is bought for nothing."""

import pytest

from leasehold.runs import grip, stumbling
from tests.runs.conftest import World
from tests.runs.shop import LISTING, PRICE


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stumbling, "FIRST_S", 0.02)


async def test_a_page_that_ends_in_something_unexpected_is_asked_for_again_later(it: World) -> None:
    it.shop.listing_cost, it.shop.breaks = LISTING, 2
    run = await it.started()

    done = await it.over(run)

    assert await it.told(run) == ["created", "wanted", "started", "stumbled", "stumbled", "completed"]
    stumbles = [event for event in await it.events(run) if event["type"] == "stumbled"]
    assert [event["wait_seconds"] for event in stumbles] == [0.02, 0.04]
    assert "LookupError" in stumbles[0]["detail"]
    assert (done["processed_items"], done["reserved_cost_micros"]) == (45, 0)
    assert done["actual_cost_micros"] == 45 * PRICE + 5 * LISTING, "what was asked for may have been charged"
    assert it.database.rows("SELECT driver_fence FROM run WHERE driver_fence > 1") == []


async def test_what_goes_on_failing_pauses_the_run(it: World) -> None:
    it.shop.breaks = 1_000
    run = await it.started()

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert (paused["pause_reason"], sum(it.shop.listed.values())) == ("failures", stumbling.MOST)
    assert "LookupError" in paused["pause_detail"]
    it.shop.breaks = 0
    await it.act(run, "resume")
    assert (await it.over(run))["processed_items"] == 45


async def test_a_page_of_which_no_items_can_be_made_is_bought_once(it: World) -> None:
    it.shop.listing_cost = LISTING
    it.shop.names = {3: "no name for PostgreSQL: \ud800"}
    run = await it.started()

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert set(it.shop.listed.values()) == {1}
    assert (paused["pause_reason"], paused["actual_cost_micros"]) == ("failures", LISTING)


async def test_who_rests_hears_that_the_run_is_cancelled(it: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stumbling, "FIRST_S", 1_000_000.0)
    monkeypatch.setattr(stumbling, "_LONGEST_S", 1_000_000.0)
    monkeypatch.setattr(grip, "BEAT_S", 0.05)
    it.shop.open.clear()
    run = await it.plan()
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 20})
    await it.act(run, "start")
    await it.until(run, lambda now: now["in_flight"] == 20)
    it.shop.breaks = 1
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 200})
    await it.until(run, lambda now: not it.shop.breaks)

    await it.act(run, "cancel")
    it.shop.open.set()

    assert (await it.over(run, "cancelled"))["in_flight"] == 0
