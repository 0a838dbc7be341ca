"""The worker that knows RabbitMQ alone, against a real broker and our own dispatcher."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import pytest

from leasehold import duties
from tests.examples.conftest import EXAMPLES
from tests.parts.broker import JSON, Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase


@pytest.fixture
async def home(database: TestDatabase, amqp_url: str) -> AsyncIterator[House]:
    platforms = EXAMPLES / "platforms"
    async with house(database, duties=duties.ALL, platforms_dir=platforms, amqp_url=amqp_url) as made:
        await made.token()  # makes the organisation
        yield made


async def over(broker: Broker, job: str) -> JSON:
    async with asyncio.timeout(120):
        while not (found := await broker.job(job))["ended_at"]:
            await asyncio.sleep(0.05)
    return found


async def test_a_worker_without_the_sdk_does_its_tasks(home: House, amqp_url: str) -> None:
    broker = Broker(await home.caller())
    await broker.submit("press", task_type="archive", job_id="daily", payload={"outlet": "daily"})
    await broker.submit("press", task_type="archive", job_id="gone", payload={"outlet": "gone"})
    async with asyncio.timeout(120):  # until the queue is declared and has them
        while {(await broker.job(job))["status"] for job in ("daily", "gone")} != {"dispatched"}:
            await asyncio.sleep(0.05)
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "amqp_worker.py", cwd=EXAMPLES, env=os.environ | {"AMQP_URL": amqp_url}
    )

    try:
        daily, gone = await over(broker, "daily"), await over(broker, "gone")
    finally:
        worker.kill()
        await worker.wait()

    assert (daily["status"], daily["result_count"]) == ("completed", 6)
    assert [one["headline"] for one in await broker.documents("daily")] == [f"Headline {n}" for n in range(1, 7)]
    assert (gone["status"], gone["last_error"]["code"], gone["attempt"]) == ("failed", "not_found", 1)
    assert (await broker.books())["press"]["unaccounted"] == 0
