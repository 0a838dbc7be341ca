"""What a platform does not take: one item of many fails alone, and nothing is bought twice for it."""

from tests.runs.conftest import World
from tests.runs.shop import LISTING, PRICE


async def test_an_item_that_the_platform_does_not_take_fails_alone(it: World) -> None:
    it.shop.odd, it.shop.listing_cost = {3, 25}, LISTING
    run = await it.started()

    done = await it.over(run)

    assert (done["total_items"], done["processed_items"], done["failed_items"]) == (45, 43, 2)
    failed = await it.items(run, status="failed")
    assert [item["external_id"] for item in failed] == ["toys-3", "toys-25"]
    assert {(item["error_code"], item["cost_micros"], item["job_id"]) for item in failed} == {
        ("invalid_request", 0, None)
    }
    assert "/asin" in failed[0]["error_message"]
    assert set(it.shop.listed.values()) == set(it.shop.asked.values()) == {1}
    assert done["actual_cost_micros"] == 43 * PRICE + 3 * LISTING
    told = [item for event in await it.events(run) if event["type"] == "items" for item in event["items"]]
    assert sorted(item["external_id"] for item in told if item["status"] == "failed") == ["toys-25", "toys-3"]


async def test_where_it_takes_hardly_any_the_run_is_paused(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 200
    it.shop.odd = set(range(10, 200))
    run = await it.started()

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert (paused["pause_reason"], paused["reserved_cost_micros"] % PRICE) == ("failures", 0)
    assert len(it.shop.listed) < 10
    assert set(it.shop.listed.values()) == {1}


async def test_what_it_did_not_take_is_not_tried_again(it: World) -> None:
    it.shop.odd, it.shop.bad = {3}, {7}
    run = await it.started()
    await it.over(run)
    it.shop.bad.clear()

    refused = await it.client.post(f"/v2/runs/{run}/retry", json={"error_code": "invalid_request"})
    tried = await it.client.post(f"/v2/runs/{run}/retry", json={})
    done = await it.over(run)

    assert (refused.status_code, tried.status_code) == (409, 200)
    assert (done["processed_items"], done["failed_items"]) == (44, 1)
