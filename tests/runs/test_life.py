"""A run from its estimate to its end, and everything an operator does with it on the way."""

import asyncio

import pytest

from tests.runs.conftest import World
from tests.runs.shop import LISTING, PRICE, Shop, asin

MANY = 1_000_000_000


async def test_a_run_collects_every_item_once(it: World) -> None:
    run = await it.started()

    done = await it.over(run)

    items = await it.items(run)
    assert {item["external_id"] for item in items} == {f"toys-{n}" for n in range(45)}
    assert {item["status"] for item in items} == {"completed"}
    assert items[0]["data"] == {"asin": asin(0), "title": "Product 0000000000"}
    assert set(it.shop.asked.values()) == {1}
    assert (done["total_items"], done["processed_items"], done["failed_items"]) == (45, 45, 0)
    assert (done["actual_cost_micros"], done["reserved_cost_micros"]) == (45 * PRICE, 0)
    assert await it.told(run) == ["created", "wanted", "started", "completed"]


async def test_events_are_numbered_without_a_gap(it: World) -> None:
    run = await it.started()
    await it.over(run)

    numbers = [event["seq"] for event in await it.events(run)]

    assert numbers == list(range(1, len(numbers) + 1))
    since = (await it.client.get(f"/v2/runs/{run}/events?since=3")).json()["items"]
    assert [event["seq"] for event in since] == numbers[3:]


async def test_who_waits_for_events_is_called(it: World) -> None:
    run = await it.plan()
    waiting = asyncio.create_task(it.client.get(f"/v2/runs/{run}/events?since=1&wait_seconds=20"))
    await asyncio.sleep(0.1)
    assert not waiting.done()

    await it.act(run, "start")

    async with asyncio.timeout(15):
        assert (await waiting).json()["items"][0]["type"] == "wanted"


async def test_an_estimate_is_items_times_price_and_has_a_verdict(it: World) -> None:
    plan = {"collector": "amazon", "categories": ["toys"]}
    verdicts = []
    for cap in (MANY, 45 * PRICE * 100 // 80, 45 * PRICE, 45 * PRICE - 1):
        await it.allow(budget_cap_micros=cap)
        answer = (await it.client.post("/v2/runs/estimate", json=plan)).json()
        verdicts.append(answer["verdict"])

    assert verdicts == ["ok", "warn", "warn", "blocked"]
    line = {"category": "toys", "items": 45, "unit_cost_micros": PRICE, "cost_micros": 45 * PRICE}
    assert answer["items"] == [line]
    assert answer["total_cost_micros"] == 45 * PRICE


async def test_a_run_above_the_cap_is_refused_when_planned_and_again_when_started(it: World) -> None:
    planned = await it.plan()
    await it.allow(budget_cap_micros=45 * PRICE - 1)

    again = await it.client.post("/v2/runs", json={"collector": "amazon", "categories": ["toys"]})
    started = await it.client.post(f"/v2/runs/{planned}/start")

    for refused in (again, started):
        assert refused.status_code == 409
        assert refused.json()["type"] == "/problems/budget-exceeded"
        assert refused.json()["budget_cap_micros"] == 45 * PRICE - 1


async def test_the_cap_is_copied_when_it_starts(it: World) -> None:
    planned = await it.plan()
    await it.allow(budget_cap_micros=MANY)
    started = await it.act(planned, "start")
    await it.allow(budget_cap_micros=MANY * 2)

    assert started["budget_cap_micros"] == MANY
    assert (await it.over(planned))["budget_cap_micros"] == MANY


async def test_a_paused_run_begins_nothing_and_goes_on_where_it_was(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 300
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: now["in_flight"] >= 100 and it.shop.asked)

    paused = await it.act(run, "pause")
    begun = sum(it.shop.asked.values())
    it.shop.open.set()
    rested = await it.until(run, lambda now: now["sub_status"] is None)
    await asyncio.sleep(0.5)

    assert (paused["status"], paused["pause_reason"], paused["sub_status"]) == ("paused", "operator", "pausing")
    assert sum(it.shop.asked.values()) == begun == rested["processed_items"]
    await it.act(run, "resume")
    done = await it.over(run)
    assert done["processed_items"] == 300
    assert set(it.shop.asked.values()) == {1}


async def test_a_cancelled_run_gives_back_what_was_not_begun(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 300
    it.shop.open.clear()
    run = await it.started()
    await it.until(run, lambda now: now["in_flight"] >= 100 and it.shop.asked)

    cancelled = await it.act(run, "cancel")
    begun = sum(it.shop.asked.values())
    it.shop.open.set()
    done = await it.over(run, "cancelled")

    assert (cancelled["status"], cancelled["sub_status"]) == ("cancelled", "cancelling")
    assert sum(it.shop.asked.values()) == begun == done["processed_items"]
    assert done["skipped_items"] > 0
    assert (done["reserved_cost_micros"], done["actual_cost_micros"]) == (0, begun * PRICE)
    assert (await it.client.get("/v2/jobs/books")).json()["items"][0]["unaccounted"] == 0


@pytest.mark.parametrize(
    ("state", "allowed"),
    [("pending", {"start", "cancel"}), ("running", {"pause", "cancel"}), ("paused", {"resume", "cancel"})],
)
async def test_only_what_the_table_allows_is_done(state: str, allowed: set[str], it: World) -> None:
    it.shop.open.clear()
    run = await it.plan()
    if state != "pending":
        await it.act(run, "start")
    if state == "paused":
        await it.act(run, "pause")

    for act in {"start", "pause", "resume", "cancel"} - allowed:
        refused = await it.act(run, act, 409)
        assert refused["type"] == "/problems/wrong-state"
    assert (await it.get(run))["status"] == state
    it.shop.open.set()


async def test_what_is_over_stays_so(it: World) -> None:
    run = await it.started()
    await it.over(run)

    for act in ("start", "pause", "resume", "cancel"):
        await it.act(run, act, 409)
    raised = await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": MANY})
    assert raised.status_code == 409


async def test_failing_items_are_told_and_skipped_without_another_try(it: World) -> None:
    it.shop.bad = {3, 7}
    run = await it.started()

    done = await it.over(run)

    failed = await it.items(run, status="failed")
    assert {item["external_id"] for item in failed} == {"toys-3", "toys-7"}
    assert {(item["error_code"], item["error_message"]) for item in failed} == {
        ("not_found", "There is no such product.")
    }
    assert (done["processed_items"], done["failed_items"]) == (43, 2)
    assert done["actual_cost_micros"] == 43 * PRICE
    assert set(it.shop.asked.values()) == {1}
    summary = (await it.client.get(f"/v2/runs/{run}/summary")).json()
    assert [(one["error_code"], one["items"]) for one in summary["failures"]] == [("not_found", 2)]


async def test_a_run_that_mostly_fails_is_paused(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 300
    it.shop.bad = set(range(300))
    run = await it.started()

    paused = await it.until(run, lambda now: now["status"] == "paused" and now["sub_status"] is None)

    assert paused["pause_reason"] == "failures"
    assert "failed" in paused["pause_detail"]
    it.shop.bad = set()
    await it.act(run, "resume")
    done = await it.over(run)
    assert done["processed_items"] + done["failed_items"] == 300


async def test_others_wait_for_a_slot_in_their_order(it: World) -> None:
    await it.allow(max_concurrent_runs=1)
    it.shop.open.clear()
    first, second, third = [await it.started() for _ in range(3)]

    waiting = [await it.get(run) for run in (first, second, third)]
    assert [(run["status"], run["sub_status"], run["position"]) for run in waiting] == [
        ("running", None, None),
        ("pending", "waiting", 1),
        ("pending", "waiting", 2),
    ]
    await it.act(second, "start", 409)
    it.shop.open.set()

    ends = [await it.over(run) for run in (first, second, third)]
    assert ends[0]["completed_at"] <= ends[1]["started_at"]
    assert ends[1]["completed_at"] <= ends[2]["started_at"]


async def test_a_listing_is_paid_from_the_budget_and_within_the_estimate(it: World) -> None:
    it.shop.listing_cost = LISTING
    run = await it.plan()
    estimate = (await it.get(run))["estimated_cost_micros"]
    assert (await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": estimate})).status_code == 200
    await it.act(run, "start")

    done = await it.over(run)

    assert done["actual_cost_micros"] == 45 * PRICE + 3 * LISTING <= estimate
    assert set(it.shop.listed.values()) == {1}


async def test_the_same_plan_under_the_same_key_is_one_run(it: World) -> None:
    body = {"collector": "amazon", "categories": ["toys"]}
    headers = {"Idempotency-Key": "once"}

    made = [(await it.client.post("/v2/runs", json=body, headers=headers)).json()["id"] for _ in range(2)]

    assert made[0] == made[1]
    assert len((await it.client.get("/v2/runs")).json()["items"]) == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"collector": "nobody", "categories": ["toys"]}, "/collector"),
        ({"collector": "amazon", "categories": ["toys", "cars"]}, "/categories/1"),
        ({"collector": "amazon", "categories": ["toys", "toys"]}, "/categories"),
        ({"collector": "amazon", "categories": []}, "/categories"),
    ],
)
async def test_a_plan_that_cannot_be_is_refused(body: dict[str, object], pointer: str, it: World) -> None:
    for path in ("/v2/runs/estimate", "/v2/runs"):
        refused = await it.client.post(path, json=body)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == pointer


async def test_a_thing_that_is_listed_twice_is_collected_once(it: World, shop: Shop) -> None:
    first = shop.list

    async def twice(category: str, cursor: str | None) -> object:
        listing = await first(category, cursor)
        listing.wishes.extend(listing.wishes[:5])
        return listing

    shop.list = twice  # type: ignore[assignment, method-assign]
    run = await it.started()

    await it.over(run)

    assert len(await it.items(run)) == 45
    assert set(shop.asked.values()) == {1}
