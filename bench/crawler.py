"""A crawler that does nothing, in a process of its own: takes tasks from RabbitMQ, answers each with its last result.

No SDK: it publishes persistent, mandatory and with confirms, and acknowledges a task once its result is confirmed.
"""

import argparse
import asyncio

import aio_pika
import orjson
import uvloop
from aio_pika.abc import AbstractConnection, AbstractExchange, AbstractIncomingMessage, AbstractQueue
from aio_pika.exceptions import ChannelNotFoundEntity

_PREFETCH = 500
_TOGETHER = 100
_NAMES = ("job_id", "attempt", "fence", "platform", "task_type")


def answer(message: AbstractIncomingMessage) -> aio_pika.Message:
    task = orjson.loads(message.body)
    result = {
        **{name: task[name] for name in _NAMES},
        "status": "success",
        "final": True,
        "cursor": 1,
        "payload_chunk": [{"title": "front", "words": ["one", "two"]}],
    }
    return aio_pika.Message(
        orjson.dumps(result),
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        type="CrawlerResult",
    )


async def work(results: AbstractExchange, arrived: asyncio.Queue[AbstractIncomingMessage]) -> None:
    while True:
        batch = [await arrived.get()]
        while len(batch) < _TOGETHER and not arrived.empty():
            batch.append(arrived.get_nowait())
        await asyncio.gather(*(results.publish(answer(one), "", mandatory=True) for one in batch))
        await batch[-1].ack(multiple=True)


async def run(url: str, queue_name: str) -> None:
    connection = await aio_pika.connect(url)
    async with connection:
        out = await connection.channel(publisher_confirms=True, on_return_raises=True)
        queue = await _found(connection, queue_name)
        arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
        await queue.consume(arrived.put)
        print("ready", flush=True)
        await work(await out.get_exchange("collector.results", ensure=True), arrived)


async def _found(connection: AbstractConnection, name: str) -> AbstractQueue:
    """The queue of our platform; the dispatcher makes it, and may have just been started."""
    while True:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=_PREFETCH)
        try:
            return await channel.get_queue(name, ensure=True)
        except ChannelNotFoundEntity:
            await asyncio.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--broker", required=True)
    parser.add_argument("--queue", required=True)
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(given.broker, given.queue))


if __name__ == "__main__":
    main()
