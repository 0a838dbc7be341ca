"""While a run is paused nothing of it begins, whatever comes back; and the time it rests is no time of its items."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime

import pytest

from tests.parts.broker import JSON, failed
from tests.parts.postgres import TestDatabase
from tests.runs.desk import Desk, brought, opened

ITEMS = 3


@pytest.fixture
async def desk(database: TestDatabase) -> AsyncIterator[Desk]:
    async with opened(database, ITEMS) as made:
        yield made


Come = Callable[[Desk, JSON], Awaitable[None]]


async def snoozed(desk: Desk, lease: JSON) -> None:
    await desk.broker.bring(failed(lease, "rate_limited", retry_after_seconds=0))


async def out(desk: Desk, lease: JSON) -> None:
    await desk.broker.bring(failed(lease, "provider_down", retry_after_seconds=0))


async def lost(desk: Desk, _lease: JSON) -> None:
    desk.lose()
    await desk.reap()


async def returned(desk: Desk, lease: JSON) -> None:
    answer = await desk.client.post(f"/v2/leases/{lease['id']}/release", json={"outcome": "returned"})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("come_back", [snoozed, out, lost, returned])
async def test_what_comes_back_to_a_paused_run_is_not_given_out(come_back: Come, desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "pause")

    await come_back(desk, lease)

    assert await desk.take() == []
    rested = await desk.until(run, lambda now: now["sub_status"] is None)
    assert (rested["status"], rested["in_flight"]) == ("paused", ITEMS)
    await desk.act(run, "resume")
    again = await desk.take()
    assert lease["task"]["job_id"] in {one["task"]["job_id"] for one in again}
    await desk.broker.bring(*(brought(one) for one in again))
    assert (await desk.over(run))["processed_items"] == ITEMS


async def test_what_a_worker_has_when_it_is_resumed_may_come_back(desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "pause")
    await desk.act(run, "resume")

    await snoozed(desk, lease)

    assert len(await desk.take()) == ITEMS


async def test_what_comes_back_to_a_cancelled_run_is_taken_back(desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    await desk.act(run, "cancel")

    await snoozed(desk, lease)

    assert await desk.take() == []
    done = await desk.over(run, "cancelled")
    assert (done["skipped_items"], done["reserved_cost_micros"]) == (ITEMS, 0)


async def test_the_time_a_run_is_paused_is_not_taken_from_its_items(desk: Desk) -> None:
    run = await desk.begun()
    (lease,) = await desk.take(1)
    ((before,),) = desk.database.rows("SELECT min(deadline_at) FROM task")
    await desk.act(run, "pause")

    desk.days_go_by(3)
    await snoozed(desk, lease)
    await desk.reap()
    assert desk.database.rows("SELECT DISTINCT status FROM task") == [("pending",)]
    await desk.act(run, "resume")

    ((after, of_jobs),) = desk.database.rows(
        "SELECT min(t.deadline_at), min(j.deadline_at) FROM task t JOIN job j ON j.id = t.job"
    )
    assert after >= before, "what was left of its time is less"
    assert of_jobs == after
    assert desk.database.rows("SELECT FROM task WHERE paused_at IS NOT NULL") == []
    again = await desk.take()
    await desk.broker.bring(*(brought(one) for one in again))
    assert (await desk.over(run))["processed_items"] == ITEMS


async def test_nor_is_the_time_a_provider_is_down(desk: Desk) -> None:
    run = await desk.begun()
    desk.database.run(
        "INSERT INTO platform_breaker (organisation, platform, reason, probe_at)"
        " SELECT organisation, 'amazon', 'a test says so', clock_timestamp() FROM run"
    )
    paused = await desk.until(run, lambda now: now["status"] == "paused")

    desk.days_go_by(3)
    await desk.reap()
    (probe,) = await desk.take()
    ((now,),) = desk.database.rows("SELECT clock_timestamp()")
    await desk.broker.bring(brought(probe))
    await desk.until(run, lambda now: now["status"] == "running")

    assert paused["pause_reason"] == "provider_down"
    assert datetime.fromisoformat(probe["task"]["deadline_at"]) > now
    again = await desk.take()
    assert len(again) == ITEMS - 1
    await desk.broker.bring(*(brought(one) for one in again))
    assert (await desk.over(run))["processed_items"] == ITEMS


async def test_a_deadline_that_had_passed_before_the_pause_has_passed(desk: Desk) -> None:
    run = await desk.begun()
    desk.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
    await desk.act(run, "pause")
    await desk.reap()
    assert desk.database.rows("SELECT DISTINCT status FROM task") == [("pending",)]

    await desk.act(run, "resume")
    await desk.reap()

    assert desk.database.rows("SELECT DISTINCT status FROM task") == [("timed_out",)]
    assert (await desk.until(run, lambda now: now["failed_items"] == ITEMS))["processed_items"] == 0
