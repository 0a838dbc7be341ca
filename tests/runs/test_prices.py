"""One table of prices for what is estimated, set aside and paid; and what was paid is told, whatever was expected."""

from tests.parts.postgres import TestDatabase
from tests.runs.conftest import JSON, World
from tests.runs.desk import brought, opened
from tests.runs.shop import PRICE


async def reserved(it: World, run: str) -> set[int]:
    return {entry["reserved_micros"] for entry in await it.ledger(run) if entry["kind"] == "reserve"}


async def test_what_the_table_of_the_collector_says_is_set_aside_and_paid(it: World) -> None:
    it.shop.price = 800
    await it.allow(budget_cap_micros=45 * 800)
    plan = {"collector": "amazon", "categories": ["toys"]}
    estimate = (await it.client.post("/v2/runs/estimate", json=plan)).json()

    run = await it.started()
    done = await it.over(run)

    assert estimate["total_cost_micros"] == done["actual_cost_micros"] == 45 * 800
    assert await reserved(it, run) == {800}


async def test_the_cap_holds_by_that_price(it: World) -> None:
    await it.allow(budget_cap_micros=45 * PRICE)
    run = await it.plan()
    it.shop.price = 800  # since it was planned
    await it.act(run, "start")

    paused = await it.until(run, lambda now: now["status"] == "paused" and now["sub_status"] is None)

    most = 45 * PRICE // 800
    assert (paused["pause_reason"], paused["processed_items"]) == ("budget", most)
    assert paused["actual_cost_micros"] == most * 800 <= 45 * PRICE
    assert sum(it.shop.asked.values()) == most


async def test_what_failed_is_tried_again_at_that_price(it: World) -> None:
    it.shop.bad = {3}
    run = await it.started()
    await it.over(run)
    it.shop.bad.clear()
    it.shop.price = 800

    await it.client.post(f"/v2/runs/{run}/retry", json={})
    done = await it.over(run)

    assert done["actual_cost_micros"] == 44 * PRICE + 800
    assert await reserved(it, run) == {PRICE, 800}


def told(events: list[JSON], kind: str) -> list[JSON]:
    return [event for event in events if event["type"] == kind]


async def test_a_call_that_cost_more_than_expected_is_booked_as_it_was(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 3
    it.shop.charged = 700
    await it.allow(budget_cap_micros=100 * PRICE)

    run = await it.started()
    done = await it.over(run)

    assert done["actual_cost_micros"] == 3 * 700
    assert {item["cost_micros"] for item in await it.items(run)} == {700}
    overruns = told(await it.events(run), "budget_overrun")
    assert sum(event["overrun_micros"] for event in overruns) == 3 * 200
    assert sum(event["calls"] for event in overruns) == 3


async def test_beyond_the_cap_it_pauses_and_goes_on_when_the_cap_is_raised(database: TestDatabase) -> None:
    async with opened(database, 10) as desk:
        await desk.allow(budget_cap_micros=10 * PRICE)
        run = await desk.begun()
        first = await desk.take(5)

        await desk.broker.bring(brought(first[0], 3 * PRICE))
        paused = await desk.until(run, lambda now: now["status"] == "paused")

        assert (paused["pause_reason"], paused["actual_cost_micros"]) == ("budget", 3 * PRICE)
        assert "1000 micro-dollars beyond the cap" in paused["pause_detail"]
        assert await desk.take() == [], "more is bought although the cap was passed"
        refused = await desk.act(run, "resume", 409)
        assert refused["type"] == "/problems/budget-exceeded"
        # What workers had in hand is finished, and paid from what was set aside for it.
        await desk.broker.bring(*(brought(one) for one in first[1:]))
        await desk.until(run, lambda now: now["processed_items"] == 5)
        raised = await desk.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": 12 * PRICE})
        assert raised.status_code == 200
        await desk.act(run, "resume")
        await desk.broker.bring(*(brought(one) for one in await desk.take()))
        done = await desk.over(run)

    assert (done["processed_items"], done["actual_cost_micros"]) == (10, 12 * PRICE)


async def test_a_page_that_cost_more_is_booked_as_it_was(it: World) -> None:
    it.shop.listing_cost, it.shop.listing_charged = 100, 150

    run = await it.started()
    done = await it.over(run)

    assert done["actual_cost_micros"] == 45 * PRICE + 3 * 150
    assert len(told(await it.events(run), "budget_overrun")) == 3
