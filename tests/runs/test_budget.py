"""Money: never more than the cap, whoever spends at once; told of at the soft limit; and a way on at the cap."""

import asyncio
import csv
import io
import random
from uuid import UUID

from leasehold.runs import ledger
from leasehold.runs.ledger import Cost
from tests.runs.conftest import World
from tests.runs.shop import PRICE

CAP = 10_000
SPENDERS = 64
# The most that was ever spent and reserved together; entries are in the order of their commits.
PEAK = """
SELECT max(used)
  FROM (SELECT sum(reserved_micros + spent_micros) OVER (ORDER BY number) AS used FROM run_ledger) AS ledger
"""


async def test_many_spenders_at_once_never_pass_the_cap(it: World) -> None:
    await it.allow(budget_cap_micros=CAP + 45 * PRICE)
    run = await it.plan()
    await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": CAP})
    id_ = UUID(run.removeprefix("run_"))
    (row,) = it.database.rows("SELECT organisation FROM run")
    organisation: UUID = row[0]
    db = it.home.app.state.db
    chance = random.Random(7)  # noqa: S311 (a plan, not a secret)
    refused = 0

    async def spend(most: int, cost: int) -> None:
        nonlocal refused
        async with db.transaction(organisation) as conn:
            if not await ledger.reserve(conn, organisation, id_, [Cost(None, most)], "item"):
                refused += 1
                return
        await asyncio.sleep(0)
        async with db.transaction(organisation) as conn:
            await ledger.settle(conn, organisation, id_, [Cost(None, most, cost)], "item")

    for _ in range(4):
        wishes = [(most, chance.randint(0, most)) for most in (chance.randint(1, 400) for _ in range(SPENDERS))]
        await asyncio.gather(*(spend(*wish) for wish in wishes))

    (spent, reserved), *_ = it.database.rows("SELECT spent_micros, reserved_micros FROM run")
    assert refused > 0, "the cap was never near: this shows nothing"
    assert (spent <= CAP, reserved) == (True, 0)
    (peak,) = it.database.rows(PEAK)
    assert CAP - 400 < peak[0] <= CAP


async def test_at_the_cap_it_pauses_and_goes_on_when_the_cap_is_raised(it: World) -> None:
    await it.allow(budget_cap_micros=45 * PRICE)
    run = await it.plan()
    it.shop.open.clear()
    await it.act(run, "start")
    await it.until(run, lambda now: now["in_flight"] >= 20)
    lowest = (await it.get(run))["reserved_cost_micros"]
    too_low = await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": lowest - 1})
    assert too_low.status_code == 422
    await it.act(run, "pause")
    now = await it.get(run)
    # For two more, of a page that has more than that.
    cap = now["actual_cost_micros"] + now["reserved_cost_micros"] + 2 * PRICE + PRICE // 2
    assert (await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": cap})).status_code == 200
    it.shop.open.set()
    await it.act(run, "resume")

    paused = await it.until(run, lambda now: now["status"] == "paused")

    assert paused["pause_reason"] == "budget"
    assert paused["reserved_cost_micros"] == 0
    assert cap - PRICE < paused["actual_cost_micros"] <= cap
    await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": 45 * PRICE})
    await it.act(run, "resume")
    done = await it.over(run)
    assert (done["processed_items"], done["actual_cost_micros"]) == (45, 45 * PRICE)
    assert set(it.shop.asked.values()) == {1}


async def test_the_soft_limit_is_told_of_once_for_each_cap(it: World) -> None:
    await it.allow(budget_cap_micros=45 * PRICE, soft_warning_percent=50)
    run = await it.started()

    done = await it.over(run)

    warnings = [event for event in await it.events(run) if event["type"] == "budget_warning"]
    assert len(warnings) == 1
    assert (warnings[0]["percent"], warnings[0]["budget_cap_micros"]) == (50, 45 * PRICE)
    assert [warning["type"] for warning in done["warnings"]] == ["budget_soft"]


async def test_every_movement_is_in_the_ledger_and_in_the_spreadsheet(it: World) -> None:
    it.shop.bad = {5}
    it.shop.listing_cost = 100
    run = await it.started()
    done = await it.over(run)

    entries = await it.ledger(run)
    sheet = (await it.client.get(f"/v2/runs/{run}/ledger.csv")).text

    kinds = [(entry["kind"], entry["purpose"]) for entry in entries]
    assert kinds.count(("reserve", "item")) == 45
    assert (kinds.count(("settle", "item")), kinds.count(("return", "item"))) == (44, 1)
    assert kinds.count(("settle", "listing")) == 3
    assert sum(entry["spent_micros"] for entry in entries) == done["actual_cost_micros"]
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert [int(row["number"]) for row in rows] == [entry["number"] for entry in entries]
    assert sum(int(row["spent_micros"]) for row in rows) == done["actual_cost_micros"]
