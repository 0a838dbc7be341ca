"""Items that failed are tried once more, within the cap, while their run goes on and after it was over."""

from typing import Any

import httpx

from tests.runs.conftest import JSON, World
from tests.runs.shop import PRICE


async def retry(it: World, run: str, **wish: Any) -> httpx.Response:
    return await it.client.post(f"/v2/runs/{run}/retry", json=wish)


def jobs(items: list[JSON]) -> dict[str, str]:
    return {item["external_id"]: item["job_id"] for item in items}


async def test_a_run_that_was_over_goes_on_with_what_failed(it: World) -> None:
    it.shop.bad = {3, 7}
    run = await it.started()
    first = await it.over(run)
    before = jobs(await it.items(run, status="failed"))
    it.shop.bad.clear()

    answer = await retry(it, run, error_code="not_found")
    done = await it.over(run)

    assert (first["failed_items"], answer.status_code) == (2, 200)
    assert (answer.json()["completed_at"], answer.json()["failed_items"]) == (None, 0)
    assert (done["total_items"], done["processed_items"], done["failed_items"]) == (45, 45, 0)
    after = jobs(await it.items(run))
    assert set(before) == {"toys-3", "toys-7"}
    assert all(after[name] != job for name, job in before.items())
    assert sorted(it.shop.asked.values()) == [1] * 43 + [2] * 2
    assert (done["actual_cost_micros"], done["reserved_cost_micros"]) == (45 * PRICE, 0)
    told = await it.told(run)
    assert told[-4:] == ["completed", "retried", "resumed", "completed"]
    retried = next(event for event in await it.events(run) if event["type"] == "retried")
    assert (retried["items"], retried["error_code"], bool(retried["by"])) == (2, "not_found", True)


async def test_what_fails_again_has_failed_and_cost_twice(it: World) -> None:
    it.shop.bad, it.shop.refusal_cost = {3}, 100
    run = await it.started()
    await it.over(run)

    await retry(it, run)
    done = await it.over(run)

    assert (done["processed_items"], done["failed_items"]) == (44, 1)
    (failed,) = await it.items(run, status="failed")
    assert (failed["error_code"], failed["cost_micros"]) == ("not_found", 200)
    assert done["actual_cost_micros"] == sum(item["cost_micros"] for item in await it.items(run)) == 44 * PRICE + 200


async def test_it_is_tried_while_the_run_goes_on(it: World) -> None:
    it.shop.sizes["toys"] = it.shop.wanted["toys"] = 120
    it.shop.bad = {0, 1}
    run = await it.plan()
    await it.client.patch(f"/v2/runs/{run}", json={"max_in_flight": 4})
    await it.act(run, "start")
    await it.until(run, lambda now: now["failed_items"] == 2)
    it.shop.bad.clear()

    answer = await retry(it, run)
    done = await it.over(run)

    assert answer.json()["status"] == "running"
    assert (done["processed_items"], done["failed_items"], done["total_items"]) == (120, 0, 120)


async def test_what_the_cap_does_not_bear_waits_for_more_money(it: World) -> None:
    it.shop.bad = {3}
    run = await it.started()
    spent = (await it.over(run))["actual_cost_micros"]
    it.shop.bad.clear()
    it.database.run("UPDATE run SET budget_cap_micros = %s", spent)

    await retry(it, run)
    poor = await it.until(run, lambda now: now["status"] == "paused")
    await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": spent + PRICE})
    await it.act(run, "resume")
    done = await it.over(run)

    assert poor["pause_reason"] == "budget"
    assert (done["processed_items"], done["actual_cost_micros"]) == (45, spent + PRICE)


async def test_what_waits_when_it_is_cancelled_has_failed(it: World) -> None:
    it.shop.bad = set(range(45))
    run = await it.started()
    before = await it.until(run, lambda now: now["status"] == "paused" and now["sub_status"] is None)

    waiting = (await retry(it, run)).json()
    gone = await it.act(run, "cancel")
    await it.over(run, "cancelled")

    assert (waiting["status"], waiting["failed_items"]) == ("paused", 0)
    assert gone["failed_items"] == before["failed_items"] == len(await it.items(run, status="failed")) > 0


async def test_what_was_dropped_is_not_tried_again(it: World) -> None:
    it.shop.sizes["books"] = it.shop.wanted["books"] = 5
    it.shop.bad = {3}
    run = await it.started("toys", "books")
    await it.over(run)
    it.shop.bad.clear()
    it.database.run("UPDATE run SET dropped_categories = '{toys}'")

    await retry(it, run)
    done = await it.over(run)

    assert [item["category"] for item in await it.items(run, status="failed")] == ["toys"]
    assert done["processed_items"] == 49


async def test_what_can_no_longer_be_asked_for_pauses_the_run_and_says_so(it: World) -> None:
    it.shop.bad = {3}
    run = await it.started()
    await it.over(run)
    it.database.run("UPDATE job SET payload = '{}' WHERE status = 'failed'")  # as if its schema had been another

    await retry(it, run)
    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert (paused["pause_reason"], paused["reserved_cost_micros"]) == ("failures", 0)
    assert "file has changed" in paused["pause_detail"]
    assert (await it.act(run, "cancel"))["failed_items"] == 1


async def test_where_nothing_failed_nothing_is_tried(it: World) -> None:
    it.shop.bad = {3}
    done = await it.started()
    await it.over(done)
    planned, gone = await it.plan(), await it.plan()
    await it.act(gone, "cancel")

    refused = [await retry(it, done, error_code="other"), await retry(it, planned), await retry(it, gone)]

    assert [one.status_code for one in refused] == [409] * 3
    assert [one.json()["status_now"] for one in refused] == ["completed", "pending", "cancelled"]
    assert (await it.get(done))["completed_at"] is not None
