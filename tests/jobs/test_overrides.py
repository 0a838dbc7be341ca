"""Limits of a platform are changed for a while: at once, exactly, in every process, and back to what its file says."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.jobs.conftest import change, platform
from tests.parts.broker import JSON, Broker, last
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

RATE = "{concurrency: 50, rate: {tasks: 1, per_seconds: 3600.0, burst: 1}}"
PASS = "UPDATE platform_limit SET since = since - interval '1 hour', until = clock_timestamp() - interval '1 second'"


async def set_limits(broker: Broker, slug: str = "alpha", **wish: Any) -> httpx.Response:
    return await broker.client.put(f"/v2/platforms/{slug}/limits", json={"reason": "they asked for it", **wish})


async def shown(broker: Broker, slug: str = "alpha") -> JSON:
    found: JSON = (await broker.client.get(f"/v2/platforms/{slug}")).json()
    return found


async def preview(broker: Broker, **wish: Any) -> JSON:
    answer = await broker.client.post("/v2/platforms/alpha/limits/preview", json=wish)
    assert answer.status_code == 200, answer.text
    found: JSON = answer.json()
    return found


async def taken(broker: Broker, limit: int = 100) -> list[JSON]:
    found: list[JSON] = (await broker.offer(limit=limit))["leases"]
    return found


async def submit(broker: Broker, many: int) -> None:
    for n in range(many):
        await broker.submit(job_id=f"j{n}")


def later(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat()


async def test_a_platform_bears_more_and_then_what_its_file_says_again(
    broker: Broker, home: House, folder: Path
) -> None:
    change(home, folder, "", concurrency=2)
    await submit(broker, 10)
    assert len(await taken(broker)) == 2

    answer = await set_limits(broker, concurrency=5)

    assert (answer.status_code, answer.json()["concurrency"]) == (200, 5)
    leases = await taken(broker)
    assert len(leases) == 3
    restored = await broker.client.delete("/v2/platforms/alpha/limits")
    assert (restored.json()["concurrency"], restored.json()["limits_override"]) == (2, None)
    await broker.bring(*(last(lease) for lease in leases))
    assert await taken(broker) == []
    assert (await broker.books())["alpha"]["unaccounted"] == 0


async def test_what_is_in_hand_goes_on_where_it_bears_less(broker: Broker) -> None:
    await submit(broker, 10)
    leases = await taken(broker, 4)

    await set_limits(broker, concurrency=2)

    assert await taken(broker) == []
    await broker.bring(*(last(lease) for lease in leases[:2]))
    assert await taken(broker) == []
    await broker.bring(last(leases[2]))
    assert len(await taken(broker)) == 1


async def test_it_says_who_changed_it_why_since_when_and_until_when(broker: Broker) -> None:
    until = later(minutes=30)

    await set_limits(broker, concurrency=12, until=until)

    one = await shown(broker)
    told = one["limits_override"]
    entries = (await broker.client.get("/v2/audit", params={"subject": "alpha"})).json()["items"]
    assert (told["concurrency"], told["rate"], told["reason"]) == (12, None, "they asked for it")
    assert told["file"] == {"concurrency": 10, "rate": None}
    assert told["by"] == "a admin"
    assert datetime.fromisoformat(told["until"]) == datetime.fromisoformat(until)
    assert datetime.fromisoformat(told["since"]) <= datetime.now(UTC) + timedelta(minutes=1)
    assert one["may_change_limits"] is True
    listed = (await broker.client.get("/v2/platforms")).json()["items"]
    assert {each["platform"]: each["concurrency"] for each in listed} == {"alpha": 12, "beta": 10}
    assert (entries[0]["action"], entries[0]["detail"]["before"]["concurrency"]) == ("platform.limits_changed", 10)
    assert (entries[0]["detail"]["after"]["concurrency"], entries[0]["detail"]["reason"]) == (12, "they asked for it")


async def test_when_its_time_is_over_the_file_counts_whoever_notes_it(
    broker: Broker, home: House, database: TestDatabase
) -> None:
    await submit(broker, 20)
    await set_limits(broker, concurrency=3, until=later(minutes=5))
    assert len(await taken(broker)) == 3
    database.run(PASS)

    assert (await shown(broker))["limits_override"] is None
    assert len(await taken(broker)) == 7
    await home.app.state.jobs.reap([database.rows("SELECT id FROM organisation")[0][0]])

    assert database.rows("SELECT count(*) FROM platform_limit") == [(0,)]
    entries = (await broker.client.get("/v2/audit", params={"subject": "alpha"})).json()["items"]
    assert [one["action"] for one in entries] == ["platform.limits_ended", "platform.limits_changed"]


async def test_a_rate_is_raised_at_once_although_the_last_task_had_used_it_up(
    broker: Broker, home: House, folder: Path
) -> None:
    change(home, folder, "", limits=RATE)
    await submit(broker, 10)
    assert len(await taken(broker)) == 1
    assert await taken(broker) == []

    await set_limits(broker, rate={"tasks": 1, "per_seconds": 3600.0, "burst": 4})

    assert (await shown(broker))["rate"]["burst"] == 4
    assert len(await taken(broker)) == 3
    await set_limits(broker, rate={"tasks": 36000, "per_seconds": 36.0, "burst": 1})
    async with asyncio.timeout(20):
        while not await taken(broker):  # a few thousandths of a second, and not the hours of before
            await asyncio.sleep(0.01)


async def test_a_rate_is_lowered_at_once(broker: Broker, home: House, folder: Path, database: TestDatabase) -> None:
    change(home, folder, "", limits="{concurrency: 50, rate: {tasks: 1, per_seconds: 60.0, burst: 30}}")
    await submit(broker, 30)
    assert len(await taken(broker, 20)) == 20

    await set_limits(broker, rate={"tasks": 2, "per_seconds": 7200.0, "burst": 2})

    assert await taken(broker) == []
    # What had begun before counts as one burst and no more: two hours later there may be two again.
    database.run("UPDATE platform_rate SET next_at = next_at - interval '2 h', taken_at = taken_at - interval '2 h'")
    assert len(await taken(broker)) == 2
    offer = await broker.offer()
    assert (offer["leases"], offer["waiting"]["reason"]) == ([], "rate_limited")


async def test_a_rate_where_the_file_has_none_and_the_file_again(broker: Broker) -> None:
    await submit(broker, 10)
    await set_limits(broker, rate={"tasks": 1, "per_seconds": 3600.0, "burst": 1})
    assert len(await taken(broker)) == 1

    await broker.client.delete("/v2/platforms/alpha/limits")

    assert len(await taken(broker)) == 9


async def test_explain_names_it(broker: Broker) -> None:
    await submit(broker, 2)
    await set_limits(broker, concurrency=1)
    await taken(broker)

    said = (await broker.client.get("/v2/jobs/j1/explain")).json()["parts"][0]

    assert (said["reason"], said["limit"]) == ("at_limit", 1)
    assert "its file says 10; changed by " in said["detail"]
    assert "they asked for it" in said["detail"]
    await broker.client.delete("/v2/platforms/alpha/limits")
    await set_limits(broker, rate={"tasks": 1, "per_seconds": 3600.0})
    await taken(broker)
    await broker.submit(job_id="j2")
    rated = (await broker.client.get("/v2/jobs/j2/explain")).json()["parts"][0]
    assert rated["reason"] == "rate_limited"
    assert "its file says no rate; changed by " in rated["detail"]


async def test_a_preview_says_what_would_begin_and_sets_nothing(broker: Broker, home: House, folder: Path) -> None:
    change(home, folder, "", concurrency=4)
    await submit(broker, 20)
    await taken(broker)

    more, less = await preview(broker, concurrency=10), await preview(broker, concurrency=1)
    slow = await preview(broker, concurrency=10, rate={"tasks": 1, "per_seconds": 60.0, "burst": 2})

    assert (more["in_flight"], more["waiting"], more["would_start"], more["over_by"]) == (4, 16, 6, 0)
    assert more["limits"] == {"concurrency": 10, "rate": None}
    assert (less["would_start"], less["over_by"]) == (0, 3)
    assert slow["would_start"] == 2
    assert (await shown(broker))["limits_override"] is None
    await set_limits(broker, concurrency=10)
    assert len(await taken(broker)) == more["would_start"]
    assert (await preview(broker))["over_by"] == 6


async def test_who_waits_for_work_is_called(broker: Broker, home: House, folder: Path) -> None:
    change(home, folder, "", concurrency=1)
    await submit(broker, 2)
    await taken(broker)
    waiting = asyncio.create_task(broker.offer(wait_seconds=30))

    await set_limits(broker, concurrency=2)

    async with asyncio.timeout(25):
        assert len((await waiting)["leases"]) == 1


# What began since the limits were changed, and what is in hand: looked at in one breath.
BEGUN = (
    "SELECT p.concurrency, count(*), count(*) FILTER (WHERE l.acquired_at > p.since)"
    " FROM platform_limit p JOIN lease l ON l.kind = 'task' GROUP BY p.concurrency"
)


async def test_limits_hold_over_servers_while_they_are_changed(database: TestDatabase, folder: Path) -> None:
    """Where something began since a change, no more was in hand then than it allows, and it only grows less."""
    (folder / "alpha.yaml").write_text(platform("alpha", concurrency=6))
    jobs, looks = 120, 0
    done: list[str] = []
    faults: list[tuple[int, int, int]] = []

    async with house(database, platforms_dir=folder) as one, house(database, platforms_dir=folder) as two:
        brokers = [Broker(await home.caller()) for home in (one, two)]

        async def work(broker: Broker) -> None:
            while len(done) < jobs:
                for lease in (await broker.offer(limit=3, wait_seconds=1))["leases"]:
                    await broker.bring(last(lease))
                    done.append(lease["task"]["job_id"])

        async def steer() -> None:
            nonlocal looks
            for turn in count():
                assert (await set_limits(brokers[turn % 2], concurrency=(2, 9, 1, 4)[turn % 4])).status_code == 200
                for _ in range(5):
                    looks += 1
                    faults.extend(row for row in database.rows(BEGUN) if row[2] and row[1] > row[0])
                    await asyncio.sleep(0.01)
                if len(done) >= jobs:
                    return

        for n in range(jobs):
            await brokers[0].submit(job_id=f"j{n}")
        async with asyncio.timeout(90):
            await asyncio.gather(steer(), *(work(broker) for broker in brokers for _ in range(4)))
        books = (await brokers[0].books())["alpha"]

    assert (faults, looks > 10) == ([], True)
    assert sorted(done) == sorted(f"j{n}" for n in range(jobs))
    assert (books["completed"], books["live"], books["unaccounted"]) == (jobs, 0, 0)


async def test_a_change_waits_for_grants_under_way_and_grants_for_the_change(
    broker: Broker, database: TestDatabase
) -> None:
    await submit(broker, 4)
    lock = "SELECT pg_advisory_xact_lock(hashtextextended('alpha', 5))"
    with database.connect() as granting, granting.transaction():
        granting.execute(lock)

        changing = asyncio.create_task(set_limits(broker, concurrency=1))
        async with asyncio.timeout(20):
            while not database.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
                await asyncio.sleep(0.02)

        assert not changing.done()
        assert database.rows("SELECT count(*) FROM platform_limit") == [(0,)]
    assert (await changing).status_code == 200
    assert len(await taken(broker)) == 1


async def test_it_counts_for_all_organisations_and_one_may_change_it(broker: Broker, home: House) -> None:
    theirs = Broker(await home.caller(organisation="theirs"))
    await set_limits(broker, concurrency=1)
    await theirs.submit(job_id="x")
    await theirs.submit(job_id="y")

    refused = [await set_limits(theirs, concurrency=99), await theirs.client.delete("/v2/platforms/alpha/limits")]

    assert [(one.status_code, one.json()["type"]) for one in refused] == [(403, "/problems/limits-not-yours")] * 2
    assert len(await taken(theirs)) == 1
    seen = await shown(theirs)
    assert (seen["concurrency"], seen["may_change_limits"]) == (1, False)
    assert (seen["limits_override"]["by"], seen["limits_override"]["reason"]) == (None, None)
    said = (await theirs.client.get("/v2/jobs/y/explain")).json()["parts"][0]["detail"]
    assert "changed by an operator" in said
    assert "they asked for it" not in said


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({}, ""),
        ({"concurrency": 0}, "/concurrency"),
        ({"concurrency": "5"}, "/concurrency"),
        ({"concurrency": 5, "reason": ""}, "/reason"),
        ({"rate": {"tasks": 0}}, "/rate/tasks"),
        ({"concurrency": 5, "until": "2020-01-01T00:00:00Z"}, "/until"),
        ({"concurrency": 5, "until": later(days=31)}, "/until"),
    ],
)
async def test_what_nobody_can_mean_is_refused(broker: Broker, wish: JSON, pointer: str) -> None:
    answer = await set_limits(broker, **wish)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert (await shown(broker))["limits_override"] is None


async def test_a_platform_there_is_not_has_no_limits(broker: Broker) -> None:
    answer = await set_limits(broker, "nowhere", concurrency=1)

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/platform-unknown")
