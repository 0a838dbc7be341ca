"""What our RabbitMQ transport is held against: aio-pika alone, in a process of its own.

Messages like our tasks are published persistent and mandatory, with confirms, a hundred at a time, to a quorum queue,
and consumed and acknowledged one by one meanwhile. One message published, consumed and acknowledged counts as one.
"""

import argparse
import asyncio
import json
import time
from datetime import UTC, datetime
from uuid import uuid4

import aio_pika
import orjson
import uvloop
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, HeadersType

from leasehold.jobs import CollectorTask
from leasehold.jobs.messages import WriterSaid

QUEUE = "bench.bare.queue"
_TOGETHER = 100
_PREFETCH = 500
_WARM = 500


def body() -> bytes:
    """A task like those our dispatcher sends."""
    task = CollectorTask(
        job_id=f"job_{uuid4().hex[:26]}",
        attempt=1,
        fence=1,
        platform="bench-amqp",
        task_type="page",
        payload={"page": "front"},
        time_range=None,
        cursor=None,
        idempotency_token=f"{uuid4().hex}-1",
        deadline_at=datetime.now(UTC),
        retry=False,
        trace_ctx=None,
        writer=WriterSaid(target="postgres", phase="stream", crawler_writes=False),
    )
    return task.model_dump_json().encode()


def letter(made: bytes) -> aio_pika.Message:
    """In size and shape the same, with nothing to be done for it but to send it."""
    headers: HeadersType = {
        "attempt": 1,
        "fence": 1,
        "lease": f"lse_{uuid4().hex[:26]}",
        "lease_seconds": 60,
        "organisation": "default",
    }
    return aio_pika.Message(
        made,
        headers=headers,
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        message_id=uuid4().hex,
        type="CollectorTask",
    )


async def run(url: str, messages: int) -> float:
    """Messages per second, from the first publish to the last acknowledgement."""
    connection = await aio_pika.connect(url)
    async with connection:
        out = await connection.channel(publisher_confirms=True, on_return_raises=True)
        inward = await connection.channel()
        await inward.set_qos(prefetch_count=_PREFETCH)
        queue = await inward.declare_queue(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
        got = asyncio.Semaphore(0)

        async def take(message: AbstractIncomingMessage) -> None:
            orjson.loads(message.body)
            await message.ack()
            got.release()

        await queue.consume(take)
        await _through(out, got, _WARM)
        began = time.perf_counter()
        await _through(out, got, messages)
        took = time.perf_counter() - began
        await queue.delete(if_unused=False, if_empty=False)
    return messages / took


async def _through(channel: AbstractChannel, got: asyncio.Semaphore, messages: int) -> None:
    made = body()
    for first in range(0, messages, _TOGETHER):
        many = min(_TOGETHER, messages - first)
        sent = (channel.default_exchange.publish(letter(made), QUEUE, mandatory=True) for _ in range(many))
        await asyncio.gather(*sent)
    for _ in range(messages):
        await got.acquire()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--broker", required=True)
    parser.add_argument("--messages", type=int, required=True)
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rate = runner.run(run(given.broker, given.messages))
    print(json.dumps({"messages_per_second": rate}))


if __name__ == "__main__":
    main()
