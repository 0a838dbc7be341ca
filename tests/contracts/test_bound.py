"""What is taken for a job ends with that job, in every store and however the job ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.contracts.stage import JSON, Refused, Stage
from tests.parts.broker import Broker, failed, last

pytestmark = pytest.mark.parametrize("stage", ["postgres-http", "mongo-http"], indirect=True)

VIDEO = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}


@pytest.fixture(autouse=True)
async def broker(stage: Stage) -> Broker:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one")
    return Broker(await stage.home.caller())


async def begin(broker: Broker, job: str = "j", **more: Any) -> None:
    await broker.submit(**{**VIDEO, "job_id": job, **more})


async def reap(stage: Stage) -> None:
    """What the reaper does."""
    jobs = stage.home.app.state.jobs
    everybody = [row[0] for row in stage.home.database.rows("SELECT id FROM organisation")]
    await jobs.reap(everybody)
    await jobs.marks.reap(everybody)


def disclosed(stage: Stage) -> int:
    """How often a secret left, or was about to: nothing is granted and taken back again."""
    rows = stage.home.database.rows("SELECT count(*) FROM audit_event WHERE action = 'account.disclosed'")
    return int(rows[0][0])


async def completes(_stage: Stage, broker: Broker) -> None:
    await broker.bring(last(await broker.take("youtube")))


async def fails(_stage: Stage, broker: Broker) -> None:
    await broker.bring(failed(await broker.take("youtube"), "not_found"))


async def is_cancelled(_stage: Stage, broker: Broker) -> None:
    assert (await broker.client.post("/v2/jobs/j/cancel")).status_code == 200


async def times_out(stage: Stage, _broker: Broker) -> None:
    stage.home.database.run("UPDATE task SET deadline_at = clock_timestamp() - interval '1 second'")
    await stage.home.app.state.jobs.reap([row[0] for row in stage.home.database.rows("SELECT id FROM organisation")])


async def loses_its_workers(stage: Stage, broker: Broker) -> None:
    for _ in range(3):
        await broker.take("youtube")
        stage.home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 ms' WHERE kind = 'task'")
        stage.home.database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 ms' WHERE lease IS NOT NULL")
        await reap(stage)


ENDS: dict[str, Callable[[Stage, Broker], Awaitable[None]]] = {
    "completed": completes,
    "failed": fails,
    "cancelled": is_cancelled,
    "timed_out": times_out,
    "worker_lost": loses_its_workers,
}


@pytest.mark.parametrize("end", ENDS)
async def test_a_lease_ends_with_the_job_it_was_taken_for(stage: Stage, broker: Broker, end: str) -> None:
    await begin(broker)
    lease = await stage.acquire(job_id="j")

    await ENDS[end](stage, broker)

    assert (await broker.job("j"))["ended_at"] is not None
    assert await stage.leases("?kind=account") == []
    with pytest.raises(Refused) as refused:
        await stage.beat(lease)
    assert (refused.value.status, refused.value.reason) == (410, "revoked")
    account = await stage.account(lease)
    assert (account["state"], account["unclean_ends"], account["consecutive_failures"]) == ("active", 0, 0)


async def test_what_was_taken_for_other_jobs_or_for_none_stays(stage: Stage, broker: Broker) -> None:
    await stage.accounts("two", "three")
    await begin(broker, "j")
    await begin(broker, "other")
    await stage.acquire(job_id="j")
    kept = {(await stage.acquire(job_id="other"))["id"], (await stage.acquire())["id"]}

    await is_cancelled(stage, broker)

    assert {lease["id"] for lease in await stage.leases()} == kept


async def test_whoever_waits_is_called_when_a_job_ends(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    lease = await stage.acquire(job_id="j")
    waiter = asyncio.create_task(stage.acquire(owner="bob", wait_seconds=20))
    await stage.parked()

    await is_cancelled(stage, broker)

    async with asyncio.timeout(15):
        assert (await waiter)["resource_id"] == lease["resource_id"]


async def test_a_job_with_a_live_part_keeps_its_leases(stage: Stage, broker: Broker) -> None:
    await broker.submit(["youtube", "tiktok"], job_id="two", task_type="video", payload={"video_id": "71234567890"})
    lease = await stage.acquire(job_id="two")
    await broker.bring(last(await broker.take("youtube")))
    held = [one["id"] for one in await stage.leases("?kind=account")]

    await broker.bring(last(await broker.take("tiktok")))

    assert held == [lease["id"]]
    assert await stage.leases() == []


async def test_nothing_is_taken_for_a_job_there_is_not(stage: Stage) -> None:
    with pytest.raises(Refused) as refused:
        await stage.acquire(job_id="nobody-knows")

    assert (refused.value.status, refused.value.type) == (404, "job-unknown")
    assert disclosed(stage) == 0


async def test_nothing_is_taken_for_a_job_that_is_over(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    await is_cancelled(stage, broker)

    with pytest.raises(Refused) as refused:
        await stage.acquire(job_id="j")

    assert (refused.value.status, refused.value.type) == (409, "wrong-state")
    assert refused.value.document["status_now"] == "cancelled"
    assert disclosed(stage) == 0


async def test_who_waits_for_a_job_that_ends_meanwhile_gets_nothing(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    held = await stage.acquire()
    waiter = asyncio.create_task(stage.acquire(owner="bob", wait_seconds=20, job_id="j"))
    await stage.parked()
    await is_cancelled(stage, broker)

    await stage.release(held)

    with pytest.raises(Refused) as refused:
        await waiter
    assert (refused.value.status, refused.value.type) == (409, "wrong-state")
    assert await stage.leases() == []


async def test_a_repeat_is_told_that_its_lease_ended_with_the_job(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    first = await stage.ask(job_id="j", key="k")
    again = await stage.ask(job_id="j", key="k")
    await is_cancelled(stage, broker)

    with pytest.raises(Refused) as refused:
        await stage.ask(job_id="j", key="k")

    assert again["leases"][0]["id"] == first["leases"][0]["id"]
    assert (refused.value.status, refused.value.reason) == (410, "revoked")


async def test_a_server_that_dies_after_the_end_leaves_the_leases_to_the_reaper(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    lease = await stage.acquire(job_id="j")
    # As it is when the end was committed and nothing else was done.
    stage.home.database.run("UPDATE task SET status = 'cancelled', ended_at = clock_timestamp()")
    stage.home.database.run("UPDATE job SET status = 'cancelled', ended_at = clock_timestamp()")

    async with asyncio.timeout(15):  # by itself
        while await stage.leases():
            await asyncio.sleep(0.05)

    with pytest.raises(Refused) as refused:
        await stage.beat(lease)
    assert (refused.value.status, refused.value.reason) == (410, "revoked")


async def test_the_reaper_forgets_a_job_once_nothing_can_be_granted_for_it_any_more(
    stage: Stage, broker: Broker
) -> None:
    await begin(broker)
    await stage.acquire(job_id="j")
    await is_cancelled(stage, broker)
    await reap(stage)
    soon = stage.home.database.rows("SELECT has_leases FROM job")
    stage.home.database.run("UPDATE job SET ended_at = ended_at - interval '3 minutes'")

    await reap(stage)

    assert (soon, stage.home.database.rows("SELECT has_leases FROM job")) == ([(True,)], [(False,)])


async def test_a_checkout_for_a_job_ends_with_it(stage: Stage, broker: Broker) -> None:
    await begin(broker)
    items = [{"site": "board", "url": f"https://board.example/{n}"} for n in range(2)]
    await stage.way.send("POST", "/v2/seeds", {"items": items})
    wish = {"site": "board", "owner": "ann", "seeds": 2, "job_id": "j"}
    taken: JSON = await stage.way.send("POST", "/v2/checkout", wish)

    await is_cancelled(stage, broker)

    assert (taken["account"]["job_id"], len(taken["seeds"])) == ("j", 2)
    assert await stage.leases() == []
    with pytest.raises(Refused) as refused:
        await stage.way.send("POST", "/v2/checkout", wish)
    assert refused.value.type == "wrong-state"
    assert await stage.leases() == []
