"""Seeds and captures that are taken for a job end with it, also when the last word is the writer's."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.jobs.conftest import platform
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.uploads import upload

KINDS = ["seeds", "captures"]


async def stock(client: httpx.AsyncClient) -> None:
    """A site with one seed and one capture."""
    await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
    await client.post("/v2/seeds", json={"items": [{"site": "board", "url": "https://board.example/1"}]})
    assert (await upload(client)).status_code == 201


async def acquire(client: httpx.AsyncClient, kind: str, **more: Any) -> httpx.Response:
    return await client.post(f"/v2/{kind}/acquire", json={"owner": "ann", "job_id": "j", **more}, timeout=40)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_lease_ends_with_its_job_and_another_can_have_it(
    admin: httpx.AsyncClient, broker: Broker, kind: str
) -> None:
    await stock(admin)
    await broker.submit(job_id="j")
    (lease,) = (await acquire(admin, kind)).json()["leases"]

    await broker.bring(last(await broker.take()))

    beat = await admin.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    assert (beat.status_code, beat.json()["reason"]) == (410, "revoked")
    (again,) = (await acquire(admin, kind, job_id=None)).json()["leases"]
    assert again["resource_id"] == lease["resource_id"]
    assert again["fence"] > lease["fence"]


async def test_a_task_that_is_taken_for_another_job_ends_with_that(broker: Broker) -> None:
    await broker.submit("beta", job_id="j")
    await broker.submit(job_id="theirs")
    lease = await broker.take(job_id="j", priority=9)

    await broker.client.post("/v2/jobs/j/cancel")

    beat = await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})
    again = await broker.take()
    assert lease["job_id"] == "j"
    assert (beat.status_code, beat.json()["reason"]) == (410, "revoked")
    assert (again["task"]["job_id"], again["task"]["fence"], again["job_id"]) == ("theirs", 2, None)


async def test_no_task_is_taken_for_a_job_that_is_not_or_is_over(broker: Broker) -> None:
    await broker.submit(job_id="waits")
    await broker.submit("beta", job_id="over")
    await broker.client.post("/v2/jobs/over/cancel")

    ask = {"owner": "w", "platforms": ["alpha"]}
    unknown, over = [
        await broker.client.post("/v2/tasks/acquire", json={**ask, "job_id": job}) for job in ("nothing", "over")
    ]

    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/job-unknown")
    assert (over.status_code, over.json()["type"]) == (409, "/problems/wrong-state")
    assert (await broker.take())["task"]["fence"] == 1


async def test_of_the_workers_that_wait_the_more_urgent_is_first(broker: Broker, home: House) -> None:
    waiting = {
        priority: asyncio.create_task(broker.offer(wait_seconds=30, priority=priority)) for priority in (1, 9, 4)
    }
    async with asyncio.timeout(20):
        while home.database.rows("SELECT count(*) FROM waiter WHERE kind = 'task'") != [(3,)]:
            await asyncio.sleep(0.02)

    await broker.submit(job_id="one")

    done, rest = await asyncio.wait(waiting.values(), timeout=20, return_when=asyncio.FIRST_COMPLETED)
    assert done == {waiting[9]}
    for task in rest:
        task.cancel()


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_taken_for_a_job_that_is_not_or_is_over(
    admin: httpx.AsyncClient, broker: Broker, kind: str
) -> None:
    await stock(admin)
    unknown = await acquire(admin, kind)
    await broker.submit(job_id="j")
    await broker.bring(last(await broker.take()))

    over = await acquire(admin, kind)

    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/job-unknown")
    assert (over.status_code, over.json()["type"]) == (409, "/problems/wrong-state")
    assert (await admin.get("/v2/leases")).json()["items"] == []


async def test_a_job_of_another_organisation_is_none(home: House, admin: httpx.AsyncClient, broker: Broker) -> None:
    await broker.submit(job_id="j")
    theirs = await home.caller(organisation="theirs")
    await stock(theirs)

    answer = await acquire(theirs, "seeds")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/job-unknown")


async def test_the_writers_last_confirmation_ends_the_leases(
    database: TestDatabase, tmp_path: Path, mongo_database: MongoDatabase
) -> None:
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + "writer: {target: mongo}\n")
    host, _, options = mongo_database.url.partition("?")
    async with house(database, platforms_dir=tmp_path, mongo_url=f"{host}{mongo_database.name}?{options}") as home:
        broker = Broker(await home.caller())
        await stock(broker.client)
        await broker.submit(job_id="j")
        (lease,) = (await acquire(broker.client, "seeds")).json()["leases"]
        task = await broker.take()

        await broker.bring(chunk(task, "p1", {"n": 1}), last(task))
        async with asyncio.timeout(10):
            while (await broker.job("j"))["ended_at"] is None:
                await asyncio.sleep(0.02)

        async with asyncio.timeout(2):  # the reaper would take longer
            while (await broker.client.post(f"/v2/leases/{lease['id']}/heartbeat", json={})).status_code != 410:
                await asyncio.sleep(0.02)


async def test_a_job_that_is_tried_again_may_have_leases_again(admin: httpx.AsyncClient, broker: Broker) -> None:
    await stock(admin)
    await broker.submit(job_id="j")
    await admin.post("/v2/jobs/j/cancel")
    await admin.post("/v2/jobs/j/retry")

    (lease,) = (await acquire(admin, "seeds")).json()["leases"]

    await admin.post("/v2/jobs/j/cancel")
    assert (await admin.post(f"/v2/leases/{lease['id']}/heartbeat", json={})).status_code == 410
