"""What a plan is likely to cost, learned from what earlier runs found and paid for; and a cap chosen with it."""

from datetime import date
from typing import Any

import pytest

from leasehold.collectors import Category
from leasehold.runs.forecast import Forecast, Lesson, foresee, pauses_near
from leasehold.runs.models import Line
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import JSON, World, world
from tests.runs.shop import PRICE, Shop


@pytest.fixture
def shop() -> Shop:
    return Shop(toys=45, books=60)


class Unpriced(Shop):
    """A shop of whose books nobody knows the price."""

    def categories(self, day: date) -> list[Category]:
        return [
            Category(one.id, one.name, one.items, None if one.id == "books" else one.unit_cost_micros)
            for one in super().categories(day)
        ]


async def review(it: World, *categories: str, status: int = 200, **more: Any) -> JSON:
    body = {"collector": "amazon", "categories": list(categories), **more}
    answer = await it.client.post("/v2/runs/estimate", json=body)
    assert answer.status_code == status, answer.text
    found: JSON = answer.json()
    return found


def costs(forecast: JSON) -> tuple[Any, Any, Any]:
    return forecast["low_cost_micros"], forecast["expected_cost_micros"], forecast["high_cost_micros"]


async def test_a_category_that_never_ran_is_foreseen_at_its_list_price(it: World) -> None:
    found = await review(it, "toys", "books")

    toys, books = found["forecast"]
    assert (costs(toys), toys["runs"], toys["confidence"]) == ((45 * PRICE,) * 3, 0, "list price, never run")
    assert (costs(books), books["expected_items"]) == ((60 * PRICE,) * 3, 60)
    assert found["expected_cost_micros"] == found["total_cost_micros"] == 105 * PRICE
    assert found["pauses_near_item"] is None


async def test_what_earlier_runs_found_and_paid_is_what_the_next_is_expected_to(it: World) -> None:
    it.shop.wanted["toys"] = 100  # of which there are 45, 40 and 30
    it.shop.listing_cost = 100
    it.shop.bad = {0, 1, 2}
    it.shop.refusal_cost = 0
    for many in (45, 40, 30):
        it.shop.sizes["toys"] = many
        await it.over(await it.started("toys"))

    found = await review(it, "toys")

    (toys,) = found["forecast"]
    # Pages of 20, and three of each that cost nothing: 45 of three pages, 40 of two, 30 of two.
    paid = [(many - 3) * PRICE + pages * 100 for many, pages in ((45, 3), (40, 2), (30, 2))]
    low, expected, high = costs(toys)
    assert (toys["runs"], toys["confidence"], toys["expected_items"]) == (3, "from 3 runs", 40)
    assert low <= min(paid)
    assert expected == pytest.approx(paid[1], rel=0.02)
    assert max(paid) <= high < 45 * (PRICE + 5)
    # The contract's own numbers are those of the list.
    assert found["items"] == [
        {"category": "toys", "items": 100, "unit_cost_micros": PRICE + 5, "cost_micros": 100 * (PRICE + 5)}
    ]


async def test_runs_that_were_over_before_count_by_their_items(it: World) -> None:
    it.shop.sizes["toys"] = 30
    await it.over(await it.started("toys", "books"))
    written = await review(it, "toys", "books")
    it.database.run("UPDATE run SET outcome = NULL")

    counted = await review(it, "toys", "books")

    assert counted == written
    assert [one["runs"] for one in counted["forecast"]] == [1, 1]
    assert counted["forecast"][0]["expected_items"] == 30
    # One run says little: the list price is still the dearest it may be.
    assert costs(counted["forecast"][0]) == (30 * PRICE, 30 * PRICE, 45 * PRICE)


async def test_runs_of_others_dropped_and_cancelled_ones_teach_nothing(it: World) -> None:
    await it.act(await it.plan("toys"), "cancel")
    dropped = await it.plan("toys", "books")
    await it.client.patch(f"/v2/runs/{dropped}", json={"drop_categories": ["toys"]})
    await it.act(dropped, "start")
    await it.over(dropped)

    found = await review(it, "toys", "books")
    stranger = await it.home.caller(organisation="others")
    plan = {"collector": "amazon", "categories": ["books"]}
    theirs = (await stranger.post("/v2/runs/estimate", json=plan)).json()

    assert [one["runs"] for one in found["forecast"]] == [0, 1]
    assert [one["runs"] for one in theirs["forecast"]] == [0]


async def test_a_cap_below_what_is_expected_says_where_it_pauses_and_it_does(it: World) -> None:
    cap = 30 * PRICE
    found = await review(it, "toys", budget_cap_micros=cap)
    run = await it.started("toys", budget_cap_micros=cap)

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert (found["pauses_near_item"], found["verdict"], found["budget_cap_micros"]) == (30, "warn", cap)
    assert (paused["pause_reason"], paused["processed_items"], paused["budget_cap_micros"]) == ("budget", 30, cap)
    await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": 45 * PRICE})
    await it.act(run, "resume")
    assert (await it.over(run))["processed_items"] == 45


@pytest.mark.parametrize(("cap", "why"), [(25_000_001, "organisation"), (PRICE - 1, "bears no item")])
async def test_a_cap_that_cannot_be_is_refused(it: World, cap: int, why: str) -> None:
    found = await review(it, "toys", status=422, budget_cap_micros=cap)

    (error,) = found["errors"]
    assert error["pointer"] == "/budget_cap_micros"
    assert why in error["detail"]


async def test_a_cap_of_its_own_does_not_lift_what_the_organisation_allows(it: World) -> None:
    run = await it.plan("toys", budget_cap_micros=20 * PRICE)
    await it.allow(budget_cap_micros=45 * PRICE - 1)

    planned = await it.client.post(
        "/v2/runs", json={"collector": "amazon", "categories": ["toys"], "budget_cap_micros": 20 * PRICE}
    )
    started = await it.act(run, "start", 409)

    assert planned.status_code == 409
    assert planned.json()["type"] == started["type"] == "/problems/budget-exceeded"


async def test_a_price_that_nobody_wrote_down_is_unknown_and_blocks(database: TestDatabase) -> None:
    async with world(database, Unpriced(toys=45, books=60)) as it:
        offered = (await it.client.get("/v2/runs/collectors")).json()["items"][0]["categories"]
        found = await review(it, "toys", "books")
        plan = {"collector": "amazon", "categories": ["toys", "books"]}
        refused = await it.client.post("/v2/runs", json=plan)
        run = await it.started("toys")
        await it.over(run)

    assert [one["unit_cost_micros"] for one in offered] == [PRICE, None]
    assert (found["verdict"], found["items"][1]["unit_cost_micros"]) == ("blocked", None)
    assert (costs(found["forecast"][1]), found["forecast"][1]["confidence"]) == ((None,) * 3, "unknown price")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/price-missing")
    assert refused.json()["categories"] == ["books"]


def lesson(found: int, wanted: int = 100, paid_micros: int | None = None, list_micros: int = 10) -> Lesson:
    return Lesson("toys", wanted, list_micros, found, found, found * 10 if paid_micros is None else paid_micros, 0)


def test_where_as_many_were_found_as_were_wanted_there_may_be_more() -> None:
    (found,) = foresee([Line("toys", 500, 10)], [lesson(100)] * 3, {}, is_skipped=False)

    assert (found.expected_items, found.expected_cost_micros) == (500, 5000)


def test_what_was_paid_is_reckoned_at_the_prices_of_today() -> None:
    # Half of the list price of then, which has doubled since.
    (found,) = foresee([Line("toys", 100, 20)], [lesson(50, paid_micros=250)] * 3, {}, is_skipped=False)

    assert found.expected_cost_micros == 50 * 10


def test_what_is_free_stays_free() -> None:
    (found,) = foresee([Line("toys", 100, 0)], [lesson(50, paid_micros=0, list_micros=0)], {}, is_skipped=False)

    assert (found.low_cost_micros, found.expected_cost_micros, found.high_cost_micros) == (0, 0, 0)


def test_a_cap_ends_within_the_category_it_does_not_bear() -> None:
    two = [Forecast("toys", 1, 40, 0, 400, 400, 400), Forecast("books", 1, 100, 0, 1000, 1000, 1000)]

    assert [pauses_near(two, cap) for cap in (200, 400, 900, 1400)] == [20, 40, 90, None]
