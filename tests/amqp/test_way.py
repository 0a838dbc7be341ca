"""The way of a job through RabbitMQ, with a producer and a worker that know nothing but JSON."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.parts.broker import Broker, chunk, last
from tests.parts.wire import Wire


async def until(is_so: Callable[[], Awaitable[object]], wait_s: float = 30) -> None:
    async with asyncio.timeout(wait_s):
        while not await is_so():
            await asyncio.sleep(0.05)


async def test_a_job_goes_from_request_to_documents(broker: Broker, line: Wire) -> None:
    await line.submit(job_id="mine-1", metadata={"who": "ann"})
    lease, message = await line.take()

    await line.bring(chunk(lease, "p1", {"n": 1}, {"n": 2}), last(lease))
    await message.ack()

    async def is_done() -> bool:
        return bool((await broker.job("mine-1"))["ended_at"])

    await until(is_done)
    done = await broker.job("mine-1")
    assert (done["result_count"], done["metadata"]) == (2, {"who": "ann"})
    assert await broker.documents("mine-1") == [{"n": 1}, {"n": 2}]
    assert (lease["task"]["attempt"], lease["task"]["fence"], lease["task"]["retry"]) == (1, 1, False)
    assert message.message_id == lease["task"]["idempotency_token"]
    assert (message.headers["attempt"], message.headers["fence"]) == (1, 1)
    assert "retry" not in message.headers
    assert (await broker.books())["alpha"]["unaccounted"] == 0
