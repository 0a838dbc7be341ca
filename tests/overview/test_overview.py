"""The overview: how everything stands and what needs somebody, in one answer, and to nobody more than they may see."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from leasehold.auth import Role
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

JSON = dict[str, Any]
VIDEO = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}


@pytest.fixture
async def home(database: TestDatabase) -> AsyncIterator[House]:
    # Nobody drives and nobody works: everything stays where it was put.
    async with house(database, duties=()) as made:
        yield made


@pytest.fixture
async def operator(home: House) -> httpx.AsyncClient:
    return await home.caller()


async def do(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> JSON:
    answer = await client.request(method, path, json=body)
    assert answer.is_success, answer.text
    found: JSON = answer.json()
    return found


async def look(client: httpx.AsyncClient, **query: int) -> JSON:
    found: JSON = (await client.get("/v2/overview", params=query)).json()
    return found


def matters(seen: JSON) -> dict[str, JSON]:
    return {concern["matter"]: concern for concern in seen["concerns"]}


async def started_run(operator: httpx.AsyncClient, database: TestDatabase, name: str) -> str:
    wish = {"collector": "amazon", "categories": ["toys"], "name": name}
    run: str = (await do(operator, "POST", "/v2/runs", wish))["id"]
    database.run("UPDATE run SET status = 'running', started_at = clock_timestamp() WHERE name = %s", name)
    return run


async def test_an_empty_place_has_nothing_to_worry_about(operator: httpx.AsyncClient) -> None:
    seen = await look(operator)

    assert seen["concerns"] == []
    assert (seen["flow"]["live"], seen["flow"]["worst"], seen["spend"]["spent_micros"]) == (0, None, 0)
    assert (len(seen["flow"]["moments"]), seen["flow"]["step_seconds"]) == (60, 60)
    assert (seen["seeds"]["overdue"], len(seen["seeds"]["minutes"])) == (0, 12)


async def test_jobs_are_counted_as_they_come_go_and_wait(operator: httpx.AsyncClient, database: TestDatabase) -> None:
    jobs = [(await do(operator, "POST", "/v2/jobs", VIDEO))["id"] for _ in range(4)]
    await do(operator, "POST", f"/v2/jobs/{jobs[0]}/cancel")
    ended = "UPDATE job SET status = %s, ended_at = clock_timestamp() WHERE id = %s"
    database.run(ended, "completed", jobs[1])
    database.run(ended, "timed_out", jobs[2])
    database.run("UPDATE job SET created_at = created_at - interval '30 minutes' WHERE id = %s", jobs[3])

    flow = (await look(operator))["flow"]

    sums = {
        name: sum(one[name] for one in flow["moments"]) for name in ("accepted", "completed", "failed", "cancelled")
    }
    assert sums == {"accepted": 4, "completed": 1, "failed": 1, "cancelled": 1}
    assert (flow["live"], flow["pending"], flow["ended"], flow["failed"]) == (1, 1, 3, 1)
    assert (flow["accepted_per_minute"], flow["ended_per_minute"]) == (0.6, 0.6)
    # Half an hour ago the one that is left came; before it there was nothing.
    assert (flow["moments"][20]["live"], flow["moments"][40]["live"], flow["moments"][59]["live"]) == (0, 1, 1)
    assert flow["worst"]["platform"] == "youtube"


async def test_work_that_nobody_takes_is_a_worry_until_somebody_does(
    operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    for _ in range(2):
        await do(operator, "POST", "/v2/jobs", VIDEO)
    fresh = matters(await look(operator))
    database.run("UPDATE task SET not_before = not_before - interval '10 minutes'")
    old = matters(await look(operator))
    ask = {"owner": "worker", "platforms": ["youtube"], "limit": 1}
    assert (await do(operator, "POST", "/v2/tasks/acquire", ask))["leases"]
    taken = await look(operator)

    assert fresh == {}
    assert old["no_workers"]["subject"] == "youtube"
    assert "2 tasks could begin" in old["no_workers"]["detail"]
    # One still waits, but there is somebody.
    assert (matters(taken), taken["flow"]["pending"]) == ({}, 1)
    assert taken["leases"] == {"account": 0, "task": 1}


async def test_what_stands_still_comes_first_and_what_was_meant_to_after_it(
    operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    for slug in ("board", "shop"):
        await do(operator, "POST", "/v2/sites", {"slug": slug, "domain": f"{slug}.example"})
    await do(operator, "POST", "/v2/sites/shop/pause", {"reason": "captcha wave"})
    await do(operator, "POST", "/v2/platforms/tiktok/pause", {"reason": "too loud"})
    account = await do(operator, "POST", "/v2/accounts", {"site": "board", "username": "ann", "secret": {"p": "x"}})
    await do(operator, "PATCH", f"/v2/accounts/{account['id']}", {"state": "blocked", "reason": "asked for a code"})
    for slug in ("board", "shop"):
        await do(operator, "POST", "/v2/seeds", {"items": [{"site": slug, "url": f"https://{slug}.example/new"}]})
    database.run("UPDATE seed SET next_due_at = clock_timestamp() - interval '1 hour'")
    organisation = "(SELECT id FROM organisation WHERE slug = 'default')"
    database.run(
        "INSERT INTO platform_breaker (organisation, platform, reason, probe_at)"
        f" VALUES ({organisation}, 'youtube', '4 of 5 attempts failed', clock_timestamp())"
    )
    database.run(
        "INSERT INTO source (organisation, name, status, last_error)"
        f" VALUES ({organisation}, 'stashdb', 'failed', 'The key was refused.')"
    )
    database.run(
        "INSERT INTO dead_letter (id, organisation, platform, reason, payload)"
        f" VALUES (gen_random_uuid(), {organisation}, 'youtube', 'gave_up', '{{}}')"
    )

    seen = await look(operator)

    assert [(one["weight"], one["matter"], one["subject"]) for one in seen["concerns"]] == [
        ("bad", "accounts_blocked", "board"),
        ("bad", "breaker_open", "youtube"),
        ("bad", "source_failed", "stashdb"),
        ("warn", "dead_letters", "youtube"),
        ("warn", "platform_paused", "tiktok"),
        # A site that is paused is not late as well.
        ("warn", "seeds_overdue", "board"),
        ("warn", "site_paused", "shop"),
    ]
    assert matters(seen)["site_paused"]["detail"] == "captcha wave"
    assert (seen["accounts"], seen["seeds"]["overdue"]) == ({"blocked": 1}, 2)


async def test_runs_are_a_worry_near_their_cap_and_when_something_stopped_them(
    operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    for name in ("near", "stopped", "fine"):
        await started_run(operator, database, name)
    database.run("UPDATE run SET spent_micros = budget_cap_micros * 85 / 100 WHERE name = 'near'")
    database.run("UPDATE run SET spent_micros = 10, reserved_micros = 5 WHERE name = 'fine'")
    database.run(
        "UPDATE run SET status = 'paused', pause_reason = 'failures', paused_at = clock_timestamp()"
        " WHERE name = 'stopped'"
    )

    seen = await look(operator)
    near = await do(operator, "GET", "/v2/runs?used_percent=80")

    assert {(one["matter"], one["name"]) for one in seen["concerns"]} == {
        ("budget", "near"),
        ("run_stopped", "stopped"),
    }
    spend = seen["spend"]
    assert (spend["running"], spend["paused"], spend["reserved_micros"]) == (2, 1, 5)
    assert spend["spent_micros"] == 25_000_000 * 85 // 100 + 10
    assert [run["name"] for run in near["items"]] == ["near"]


async def test_of_a_run_that_began_yesterday_only_today_counts(
    operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    await started_run(operator, database, "long")
    database.run("UPDATE run SET started_at = started_at - interval '2 days', spent_micros = 70")
    ledger = (
        "INSERT INTO run_ledger (organisation, run, kind, purpose, reserved_micros, spent_micros, at)"
        " SELECT organisation, id, 'settle', 'item', 0, %s::bigint, clock_timestamp() - %s::interval FROM run"
    )
    database.run(ledger, 50, "2 days")
    database.run(ledger, 20, "0")

    assert (await look(operator))["spend"]["spent_micros"] == 20


async def test_nobody_sees_more_than_their_token_may(home: House, operator: httpx.AsyncClient) -> None:
    await do(operator, "POST", "/v2/sites", {"slug": "shop", "domain": "shop.example"})
    await do(operator, "POST", "/v2/sites/shop/pause", {"reason": "captcha wave"})
    await do(operator, "POST", "/v2/jobs", VIDEO)

    producer = await look(await home.caller(Role.PRODUCER))
    stranger = await look(await home.caller(organisation="another"))

    assert producer["flow"]["live"] == 1
    hidden = ("spend", "accounts", "leases", "seeds")
    assert ([producer[name] for name in hidden], producer["concerns"]) == ([None] * 4, [])
    assert (stranger["flow"]["live"], stranger["concerns"]) == (0, [])


async def test_jobs_that_are_stuck_can_be_asked_for(operator: httpx.AsyncClient, database: TestDatabase) -> None:
    old, young, over = [(await do(operator, "POST", "/v2/jobs", VIDEO))["id"] for _ in range(3)]
    await do(operator, "POST", f"/v2/jobs/{over}/cancel")
    database.run("UPDATE job SET created_at = created_at - interval '20 minutes' WHERE id <> %s", young)

    stuck = await do(operator, "GET", "/v2/jobs?status=pending,dispatched,processing&older_than_seconds=900")
    several = await do(operator, "GET", "/v2/jobs?status=pending,cancelled,pending")
    wrong = await operator.get("/v2/jobs?status=pending,nonsense")

    assert [job["id"] for job in stuck["items"]] == [old]
    assert sorted(job["id"] for job in several["items"]) == sorted([old, young, over])
    assert wrong.status_code == 422


async def test_the_system_says_what_it_is_and_keeps_its_secrets(
    home: House, operator: httpx.AsyncClient, database: TestDatabase
) -> None:
    database.run(
        "INSERT INTO alert (id, organisation, kind, platform, reason, count, job_ids)"
        " SELECT gen_random_uuid(), id, 'breaker_opened', 'youtube', 'timeouts', 2, '{}' FROM organisation"
        " WHERE slug = 'default'"
    )

    seen = await do(operator, "GET", "/v2/system")

    assert seen["checks"] == {"server": "ok", "database": "ok", "migrations": "ok", "tasks": "ok"}
    assert {"waiters", "platforms"} <= {task["name"] for task in seen["tasks"] if task["is_well"]}
    assert (seen["version"], seen["alerts_on"], seen["unwritten"]) == ("0.1.0", False, 0)
    assert [(one["kind"], one["count"], one["sent_at"]) for one in seen["alerts"]] == [("breaker_opened", 2, None)]
    async with house(
        database, duties=(), alert_secret="whatever", data_dir=str(home.app.state.settings.data_dir)
    ) as other:
        same = await do(await other.caller(), "GET", "/v2/system")
    async with house(database, duties=(), alert_secret="else", data_dir=str(home.app.state.settings.data_dir)) as other:
        also = await do(await other.caller(), "GET", "/v2/system")
    assert same["settings_hash"] == also["settings_hash"] != seen["settings_hash"]
