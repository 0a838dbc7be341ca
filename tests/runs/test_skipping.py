"""What was collected lately is left out when that was planned: counted as skipped, free, and told of."""

from typing import Any

import pytest

from leasehold.auth import Role
from tests.runs.conftest import JSON, World
from tests.runs.shop import PRICE, Shop


@pytest.fixture
def shop() -> Shop:
    return Shop(toys=45, books=10)


async def forecast(it: World, **more: Any) -> JSON:
    body = {"collector": "amazon", "categories": ["toys"], **more}
    found: JSON = (await it.client.post("/v2/runs/estimate", json=body)).json()
    return found


async def test_what_was_collected_lately_is_skipped_and_costs_nothing(it: World) -> None:
    it.shop.sizes["toys"] = 30
    await it.over(await it.started("toys"))
    it.shop.sizes["toys"] = 45
    run = await it.started("toys", skip_collected_days=7)

    done = await it.over(run)

    assert (done["processed_items"], done["skipped_items"], done["total_items"]) == (15, 30, 45)
    assert (done["actual_cost_micros"], done["reserved_cost_micros"]) == (15 * PRICE, 0)
    assert done["skip_collected_days"] == 7
    assert set(it.shop.asked.values()) == {1}, "what was skipped was asked for"
    skipped = await it.items(run, status="skipped")
    assert {(one["error_code"], one["cost_micros"], one["job_id"]) for one in skipped} == {
        ("collected_lately", 0, None)
    }
    assert {one["external_id"] for one in skipped} == {f"toys-{n}" for n in range(30)}


async def test_the_timeline_says_how_many_were_left_out(it: World) -> None:
    await it.over(await it.started("toys", "books"))
    run = await it.started("toys", "books", skip_collected_days=3)
    await it.over(run)

    events = await it.events(run)

    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    told = [(one["category"], one["items"], one["days"]) for one in events if one["type"] == "collected_skipped"]
    assert told == [("toys", 45, 3), ("books", 10, 3)]
    assert events[0]["skip_collected_days"] == 3
    assert await it.told(run) == ["created", "wanted", "started", "collected_skipped", "collected_skipped", "completed"]


async def test_older_failed_and_other_things_are_collected_again(it: World) -> None:
    it.shop.bad = {0, 1}
    await it.over(await it.started("toys"))
    it.database.run("UPDATE run_item SET updated_at = updated_at - interval '8 days' WHERE external_id = 'toys-7'")
    it.shop.bad = set()
    run = await it.started("toys", skip_collected_days=7)

    done = await it.over(run)

    assert (done["processed_items"], done["skipped_items"]) == (3, 42)
    again = {one["external_id"] for one in await it.items(run, status="completed")}
    assert again == {"toys-0", "toys-1", "toys-7"}


async def test_a_run_that_left_out_what_is_there_has_not_failed_for_the_rest(it: World) -> None:
    it.shop.bad = {0, 1}
    await it.over(await it.started("toys"))

    done = await it.over(await it.started("toys", skip_collected_days=7))

    assert (done["processed_items"], done["failed_items"], done["skipped_items"]) == (0, 2, 43)


async def test_without_the_wish_everything_is_collected_again(it: World) -> None:
    await it.over(await it.started("toys"))

    done = await it.over(await it.started("toys"))

    assert (done["processed_items"], done["skipped_items"]) == (45, 0)


async def test_what_another_organisation_or_collector_has_is_not_left_out(it: World) -> None:
    await it.over(await it.started("toys"))
    it.database.run("UPDATE run SET collector = 'other'")
    stranger = World(it.home, await it.home.caller(Role.ADMIN, "others"), it.shop)
    run = await stranger.started("toys", skip_collected_days=7)
    theirs = await stranger.over(run)

    ours = await it.over(await it.started("toys", skip_collected_days=7))

    assert (theirs["skipped_items"], ours["skipped_items"]) == (0, 0)


async def test_a_budget_that_is_used_up_does_not_keep_what_is_skipped(it: World) -> None:
    it.shop.sizes["toys"] = 44
    await it.over(await it.started("toys"))
    # One that is new comes first, and the budget bears it alone.
    it.database.run("UPDATE run_item SET external_id = 'gone' WHERE external_id = 'toys-0'")
    run = await it.started("toys", skip_collected_days=7, budget_cap_micros=PRICE)

    done = await it.over(run)

    assert (done["processed_items"], done["skipped_items"], done["actual_cost_micros"]) == (1, 43, PRICE)


async def test_a_plan_says_what_was_collected_lately_and_expects_less(it: World) -> None:
    it.shop.wanted["toys"] = 100
    it.shop.sizes["toys"] = 40
    for _ in range(3):
        await it.over(await it.started("toys"))
    it.shop.sizes["toys"] = 45

    kept, skipped = await forecast(it), await forecast(it, skip_collected_days=30)

    (before,), (after,) = kept["forecast"], skipped["forecast"]
    assert (kept["lately_days"], skipped["lately_days"]) == (7, 30)
    assert before["collected_lately"] == after["collected_lately"] == 40  # each counts once
    assert (before["expected_cost_micros"], after["expected_cost_micros"]) == (40 * PRICE, 0)
    # None of them may be listed again.
    assert after["high_cost_micros"] == before["high_cost_micros"] == 40 * PRICE


@pytest.mark.parametrize("days", [0, 366])
async def test_days_that_cannot_be_are_refused(it: World, days: int) -> None:
    body = {"collector": "amazon", "categories": ["toys"], "skip_collected_days": days}

    answer = await it.client.post("/v2/runs", json=body)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == ["/skip_collected_days"]
