"""A worker that knows RabbitMQ and nothing of leasehold: the same few steps in any language.

LEASEHOLD_AMQP_URL=amqp://… LEASEHOLD_PLATFORMS_DIR=examples/platforms leasehold up
AMQP_URL=amqp://… python examples/amqp_worker.py
"""

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import aio_pika
from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractExchange, AbstractIncomingMessage

PLATFORM = "press"
# What every result says of the task it is for; leasehold tells late ones by it.
NAMES = ("job_id", "attempt", "fence", "platform", "task_type")


def crawl(outlet: str, page: int) -> list[dict[str, Any]]:
    """Your own crawling goes here."""
    if outlet == "gone":
        raise LookupError("There is no such outlet.")
    return [{"outlet": outlet, "headline": f"Headline {2 * page + place}"} for place in (1, 2)]


def work(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Results, one for each page. A cursor names what came with it; the task begins where an earlier worker stopped."""
    first = int(task["cursor"] or 0)
    try:
        for seq, page in enumerate(range(first, 3), 1):
            documents = crawl(task["payload"]["outlet"], page)
            yield {"status": "success", "seq": seq, "cursor": page + 1, "payload_chunk": documents, "final": page == 2}
    except LookupError as error:
        yield {"status": "failed", "final": True, "errors": [{"code": "not_found", "message": str(error)}]}


async def do(message: AbstractIncomingMessage, results: AbstractExchange) -> None:
    task = json.loads(message.body)
    about = {name: task[name] for name in NAMES}
    for result in work(task):
        body = json.dumps({**about, **result}).encode()
        await results.publish(Message(body, delivery_mode=DeliveryMode.PERSISTENT), routing_key="")  # confirmed
    await message.ack()  # always, and only now: leasehold alone tries again
    print(f"{task['job_id']}: done", flush=True)


async def main() -> None:
    async with await aio_pika.connect_robust(os.environ["AMQP_URL"]) as connection:
        channel = await connection.channel()  # with confirms
        await channel.set_qos(prefetch_count=5)
        results = await channel.get_exchange("collector.results")
        queue = await channel.get_queue(f"crawler.{PLATFORM}.queue")
        async with queue.iterator() as messages:
            async for message in messages:
                await do(message, results)


if __name__ == "__main__":
    asyncio.run(main())
