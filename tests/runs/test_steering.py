"""A run on its way is changed by hand: categories are left out, and more or fewer items are in hand at once."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.runs.conftest import JSON, World
from tests.runs.shop import PRICE, Shop


@pytest.fixture
def shop() -> Shop:
    return Shop(toys=45, books=60)


async def patch(it: World, run: str, **wish: Any) -> httpx.Response:
    return await it.client.patch(f"/v2/runs/{run}", json=wish)


async def categories(it: World, run: str) -> dict[str, JSON]:
    summary = (await it.client.get(f"/v2/runs/{run}/summary")).json()
    return {one["category"]: one for one in summary["categories"]}


async def test_nothing_is_begun_of_a_category_that_was_dropped(it: World) -> None:
    it.shop.open.clear()
    run = await it.started("toys", "books")
    await patch(it, run, max_in_flight=10)

    answer = await patch(it, run, drop_categories=["books"])
    it.shop.open.set()
    done = await it.over(run)

    assert answer.status_code == 200
    assert answer.json()["dropped_categories"] == done["dropped_categories"] == ["books"]
    begun = {item["external_id"] for item in await it.items(run) if item["category"] == "books"}
    assert len(begun) < 60
    assert done["total_items"] == 45 + len(begun)
    books = (await categories(it, run))["books"]
    assert (books["dropped"], books["items"]) == (True, len(begun))
    event = next(one for one in await it.events(run) if one["type"] == "categories_dropped")
    assert (event["categories"], bool(event["by"])) == (["books"], True)


async def test_a_category_that_was_dropped_before_it_came_up_is_not_even_listed(it: World) -> None:
    run = await it.plan("toys", "books")

    answer = await patch(it, run, drop_categories=["books", "books"])
    await it.act(run, "start")
    done = await it.over(run)

    assert answer.json()["total_items"] == 45
    assert {category for category, _ in it.shop.listed} == {"toys"}
    assert (done["total_items"], done["processed_items"], done["actual_cost_micros"]) == (45, 45, 45 * PRICE)


async def test_what_no_worker_has_of_it_is_taken_back_and_its_money_too(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 300
    it.shop.open.clear()
    run = await it.started("toys", "books")
    await it.until(run, lambda now: now["in_flight"] >= 100 and it.shop.asked)

    await patch(it, run, drop_categories=["toys"])
    await it.until(run, lambda now: now["skipped_items"] > 0 and now["in_flight"] > 0)
    it.shop.open.set()
    done = await it.over(run)

    toys = [item for item in await it.items(run) if item["category"] == "toys"]
    taken_back = [item for item in toys if item["status"] == "skipped"]
    assert {item["error_code"] for item in taken_back} == {"dropped"}
    assert len(toys) < 300
    assert done["processed_items"] == len(toys) - len(taken_back) + 60
    assert done["total_items"] == len(toys) + 60
    assert (done["actual_cost_micros"], done["reserved_cost_micros"]) == (done["processed_items"] * PRICE, 0)


async def test_what_is_left_out_altogether_leaves_a_run_that_is_done(it: World) -> None:
    run = await it.plan("toys", "books")
    await patch(it, run, drop_categories=["toys", "books"])

    await it.act(run, "start")
    done = await it.over(run)

    assert (done["total_items"], done["actual_cost_micros"]) == (0, 0)
    assert not it.shop.listed


async def test_as_many_are_in_hand_as_was_said(it: World) -> None:
    it.shop.open.clear()
    run = await it.plan("toys")
    await patch(it, run, max_in_flight=3)
    await it.act(run, "start")

    await it.until(run, lambda now: now["in_flight"] == 3)
    await asyncio.sleep(0.5)
    few = await it.get(run)
    await patch(it, run, max_in_flight=12)
    more = await it.until(run, lambda now: now["in_flight"] > 3)
    await patch(it, run, max_in_flight=1)
    it.shop.open.set()
    done = await it.over(run)

    assert (few["in_flight"], few["max_in_flight"]) == (3, 3)
    assert more["in_flight"] <= 12
    assert (done["processed_items"], set(it.shop.asked.values())) == (45, {1})
    moves = [(one["before"], one["max_in_flight"]) for one in await it.events(run) if one["type"] == "pace_changed"]
    assert moves == [(200, 3), (3, 12), (12, 1)]


async def test_what_a_paused_run_has_put_off_is_not_begun_by_its_job(it: World) -> None:
    it.shop.open.clear()
    run = await it.started("books")
    await it.until(run, lambda now: now["in_flight"] == 60 and it.shop.asked)
    await it.act(run, "pause")
    jobs = (await it.client.get("/v2/jobs", params={"status": "pending", "limit": 1})).json()["items"]

    begun = await it.client.patch(f"/v2/jobs/{jobs[0]['id']}", json={"not_before": "1970-01-01T00:00:00Z"})
    urgent = await it.client.patch(f"/v2/jobs/{jobs[0]['id']}", json={"priority": 9})

    assert (begun.status_code, urgent.status_code) == (409, 200)
    assert "resume" in begun.json()["detail"]
    it.shop.open.set()
    await it.act(run, "resume")
    assert (await it.over(run))["processed_items"] == 60


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"drop_categories": ["toys", "nothing"]}, "/drop_categories/1"),
        ({"drop_categories": [""]}, "/drop_categories/0"),
        ({"max_in_flight": 0}, "/max_in_flight"),
        ({"max_in_flight": 1001}, "/max_in_flight"),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(it: World, wish: JSON, pointer: str) -> None:
    run = await it.plan("toys")

    answer = await patch(it, run, **wish)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert ((await it.get(run))["dropped_categories"], await it.told(run)) == ([], ["created"])


async def test_a_run_that_is_over_is_not_changed_but_for_its_name(it: World) -> None:
    run = await it.plan("toys")
    await it.act(run, "cancel")

    refused = [await patch(it, run, max_in_flight=5), await patch(it, run, drop_categories=["toys"])]
    renamed = await patch(it, run, name="Old toys")

    assert [(one.status_code, one.json()["status_now"]) for one in refused] == [(409, "cancelled")] * 2
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Old toys")
