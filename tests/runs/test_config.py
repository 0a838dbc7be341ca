"""What a run was started with, beside what is in force for it now."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.auth import Role
from leasehold.platforms import SHIPPED
from tests.parts.postgres import TestDatabase
from tests.runs.conftest import JSON, World, world
from tests.runs.shop import PRICE, Shop


@pytest.fixture
def platforms(tmp_path: Path) -> Path:
    shutil.copy(SHIPPED / "amazon.yaml", tmp_path)
    return tmp_path


@pytest.fixture
async def it(database: TestDatabase, shop: Shop, platforms: Path) -> AsyncIterator[World]:
    async with world(database, shop, platforms_dir=platforms) as made:
        yield made


async def config(it: World, run: str) -> JSON:
    answer = await it.client.get(f"/v2/runs/{run}/config")
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


def differing(found: JSON) -> dict[str, tuple[Any, Any]]:
    return {"/".join(one["path"]): (one["frozen"], one["current"]) for one in found["items"] if one["differs"]}


def frozen(found: JSON) -> dict[str, Any]:
    return {"/".join(one["path"]): one["frozen"] for one in found["items"]}


async def test_nothing_differs_from_what_a_run_was_started_with_just_now(it: World) -> None:
    run = await it.started()
    await it.over(run)

    found = await config(it, run)

    assert (found["differences"], found["is_started"], bool(found["frozen_at"])) == (0, True, True)
    assert {one["differs"] for one in found["items"]} == {False}
    told = frozen(found)
    assert (told["run/collector"], told["run/budget_cap_micros"], told["run/max_in_flight"]) == (
        "amazon",
        25_000_000,
        200,
    )
    assert (told["categories/toys/items"], told["categories/toys/unit_cost_micros"]) == (45, PRICE)
    assert (told["prices/item_micros"], told["platform/concurrency"]) == (PRICE, 20)
    assert told["platform/rate_tasks"] is None
    assert told["policies/pause_at_failed_percent"] == 50


async def test_what_has_changed_since_is_told_and_what_was_stays(it: World, platforms: Path) -> None:
    it.shop.open.clear()
    run = await it.started()
    await it.allow(budget_cap_micros=30_000_000, soft_warning_percent=70)
    await it.client.patch(f"/v2/runs/{run}", json={"budget_cap_micros": 26_000_000, "max_in_flight": 7})
    it.shop.wanted["toys"] = 50
    it.shop.listing_cost = 100
    file = platforms / "amazon.yaml"
    file.write_text(file.read_text().replace("{concurrency: 20}", "{concurrency: 9, rate: {tasks: 3, burst: 2}}"))
    it.home.app.state.jobs.catalogue.reload()

    found = await config(it, run)

    changed = differing(found)
    before, after = changed.pop("platform/file")
    assert before != after
    assert changed == {
        "run/budget_cap_micros": (25_000_000, 26_000_000),
        "run/max_in_flight": (200, 7),
        "organisation/budget_cap_micros": (25_000_000, 30_000_000),
        "organisation/soft_warning_percent": (80, 70),
        "categories/toys/items": (45, 50),
        "categories/toys/unit_cost_micros": (PRICE, PRICE + 6),
        "prices/listing_micros": (0, 100),
        "platform/concurrency": (20, 9),
        "platform/rate_tasks": (None, 3),
        "platform/rate_per_seconds": (None, 1.0),
        "platform/rate_burst": (None, 2),
    }
    assert found["differences"] == len(changed) + 1
    it.shop.open.set()
    await it.over(run)


async def test_it_is_written_down_again_when_a_planned_run_is_started(it: World) -> None:
    run = await it.plan()
    planned = await config(it, run)
    await it.allow(budget_cap_micros=30_000_000)
    meanwhile = await config(it, run)

    await it.act(run, "start")
    started = await config(it, run)
    await it.over(run)

    assert (planned["is_started"], planned["differences"]) == (False, 0)
    assert differing(meanwhile) == {"organisation/budget_cap_micros": (25_000_000, 30_000_000)}
    assert (started["is_started"], started["differences"]) == (True, 0)
    assert frozen(started)["run/budget_cap_micros"] == 30_000_000


async def test_a_category_and_a_platform_that_are_gone_are_told_of(it: World, platforms: Path) -> None:
    run = await it.plan()
    it.shop.wanted = {"books": 5}
    (platforms / "amazon.yaml").unlink()
    it.home.app.state.jobs.catalogue.reload()

    changed = differing(await config(it, run))

    assert changed["categories/toys/items"] == (45, None)
    assert changed["platform/concurrency"] == (20, None)
    assert not [path for path in changed if path.startswith("run/")]


async def test_of_a_run_from_before_only_what_is_known_is_told(it: World) -> None:
    run = await it.plan()
    it.database.run("UPDATE run SET config = NULL, frozen_at = NULL")

    found = await config(it, run)

    assert (found["frozen_at"], found["differences"]) == (None, 0)
    known = {"/".join(one["path"]) for one in found["items"] if one["differs"] is False}
    assert known == {
        "run/collector",
        "run/platform",
        "run/budget_cap_micros",
        "run/soft_warning_percent",
        "categories/toys/items",
        "categories/toys/unit_cost_micros",
    }
    assert {one["frozen"] for one in found["items"] if one["differs"] is None} == {None}


async def test_the_config_of_another_organisation_is_not_there(it: World) -> None:
    run = await it.plan()
    stranger = await it.home.caller(Role.ADMIN, "others")

    answer = await stranger.get(f"/v2/runs/{run}/config")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/run-unknown")
