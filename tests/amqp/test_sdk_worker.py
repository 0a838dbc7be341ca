"""The SDK's worker and our own dispatcher, over RabbitMQ from the request to the written documents."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from leasehold.client.worker import Chunk, Task, TaskFailed, Worker
from tests.client.works import running
from tests.parts.broker import JSON, Broker


def crawler(url: str) -> tuple[Worker, list[str]]:
    """A worker of `alpha` that brings two pages, is slow on `slow`, and fails the first time on `flaky`."""
    worker = Worker(url, concurrency=4)
    begun: list[str] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        begun.append(task.job_id)
        if task.job_id == "flaky" and task.attempt == 1:
            raise TaskFailed("timeout", "The first time.", retryable=True)
        yield Chunk([{"job": task.job_id, "n": 1}], cursor="p1")
        if task.job_id == "slow":
            await asyncio.sleep(5.5)  # longer than a worker may be silent
        if task.job_id == "endless":
            await asyncio.sleep(3600)
        yield Chunk([{"job": task.job_id, "n": 2}], cursor="p2")

    return worker, begun


async def over(broker: Broker, job: str) -> JSON:
    async with asyncio.timeout(60):
        while not (found := await broker.job(job))["ended_at"]:
            await asyncio.sleep(0.05)
    return found


@pytest.mark.usefixtures("line")
async def test_jobs_go_through_the_broker_and_back(broker: Broker, amqp_url: str) -> None:
    worker, begun = crawler(amqp_url)
    for job in ("one", "slow", "flaky"):
        await broker.submit(job_id=job)

    async with running(worker):
        done = {job: await over(broker, job) for job in ("one", "slow", "flaky")}

    for job, found in done.items():
        assert (found["status"], found["parts"][0]["losses"]) == ("completed", 0), job
        assert await broker.documents(job) == [{"job": job, "n": 1}, {"job": job, "n": 2}]
    assert sorted(begun) == ["flaky", "flaky", "one", "slow"]
    assert (done["flaky"]["attempt"], done["one"]["attempt"]) == (2, 1)
    assert (await broker.books())["alpha"]["unaccounted"] == 0


@pytest.mark.usefixtures("line")
async def test_a_cancelled_job_stops_its_worker(broker: Broker, amqp_url: str) -> None:
    worker, begun = crawler(amqp_url)
    await broker.submit(job_id="endless")

    async with running(worker):
        async with asyncio.timeout(60):
            while not (await broker.job("endless"))["result_count"]:
                await asyncio.sleep(0.05)
        await broker.client.post("/v2/jobs/endless/cancel")
        await broker.submit(job_id="next")
        done = await over(broker, "next")

    assert begun == ["endless", "next"]
    assert done["status"] == "completed"
    assert (await broker.job("endless"))["status"] == "cancelled"
