"""What a platform does not take: one item of many fails alone, and nothing is bought twice for it. And no platform."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from leasehold.platforms import SHIPPED
from tests.parts.house import house
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import World, world
from tests.runs.shop import LISTING, PRICE, Shop


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SHIPPED, tmp_path / "platforms")
    return tmp_path / "platforms"


@pytest.fixture
async def there(database: TestDatabase, shop: Shop, folder: Path) -> AsyncIterator[World]:
    """A house whose platforms can be taken away."""
    async with world(database, shop, platforms_dir=folder) as made:
        yield made


async def looked(it: World) -> None:
    """The folder was read again."""
    await it.home.app.state.jobs.catalogue.look()


async def test_a_run_without_its_platform_is_paused_and_goes_on_when_it_is_there(there: World, folder: Path) -> None:
    there.shop.listing_cost = LISTING
    run = await there.plan()
    file = (folder / "amazon.yaml").rename(folder / "amazon.off")
    await looked(there)

    await there.act(run, "start")
    paused = await there.until(run, lambda now: now["status"] == "paused")

    assert (paused["pause_reason"], paused["actual_cost_micros"]) == ("failures", 0)
    assert "put amazon.yaml into the folder of platforms" in paused["pause_detail"]
    (event,) = [event for event in await there.events(run) if event["type"] == "paused"]
    assert event["error_code"] == "platform_missing"
    assert not there.shop.listed, "a page of which nothing can come was bought"
    file.rename(folder / "amazon.yaml")
    await looked(there)
    await there.act(run, "resume")
    assert (await there.over(run))["processed_items"] == 45


async def test_what_goes_through_no_platform_is_not_planned(there: World, folder: Path) -> None:
    (folder / "amazon.yaml").unlink()
    await looked(there)
    plan = {"collector": "amazon", "categories": ["toys"]}

    for path in ("/v2/runs/estimate", "/v2/runs"):
        refused = await there.client.post(path, json=plan)

        assert refused.status_code == 409
        assert refused.json()["type"] == "/problems/platform-missing"
        assert refused.json()["platform"] == "amazon"
        assert "amazon.yaml" in refused.json()["detail"]


async def test_one_platform_that_is_gone_does_not_stop_the_workers_of_another(
    database: TestDatabase, shop: Shop, folder: Path
) -> None:
    other = Shop(toys=3)
    other.slug, other.platform = "ebay", "ebay"
    (folder / "ebay.yaml").unlink()

    async with house(database, collectors=lambda _: {"amazon": shop, "ebay": other}, platforms_dir=folder) as home:
        it = World(home, await home.caller(), shop)
        run = await it.started()
        done = await it.over(run)

    assert done["processed_items"] == 45
