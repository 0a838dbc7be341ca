"""A producer and a worker that speak to RabbitMQ themselves: aio-pika and plain JSON, nothing of ours."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

JSON = dict[str, Any]
PATIENCE_S = 30.0


class Wire:
    """One connection to the broker, as somebody else's program has it."""

    def __init__(self, channel: AbstractChannel, user: str | None = None) -> None:
        self.channel = channel
        self._user = user
        self._queues: dict[str, AbstractQueue] = {}

    async def submit(self, platform: str | list[str] = "alpha", key: str | None = None, **more: Any) -> None:
        first = platform if isinstance(platform, str) else platform[0]
        request = {"platform": platform, "task_type": "page", "payload": {"page": "front"}, **more}
        await self.send("collector.inbound", key or f"crawler.{first}", json.dumps(request).encode())

    async def bring(self, *results: JSON, **more: Any) -> None:
        for result in results:
            await self.send("collector.results", "", json.dumps(result).encode(), **more)

    async def send(self, exchange: str, key: str, body: bytes, **more: Any) -> None:
        found = await self.channel.get_exchange(exchange, ensure=False) if exchange else self.channel.default_exchange
        kept = aio_pika.DeliveryMode.PERSISTENT
        message = aio_pika.Message(body, delivery_mode=kept, user_id=self._user, **more)
        await found.publish(message, key, mandatory=True, timeout=PATIENCE_S)

    async def get(self, queue: str, wait_s: float = PATIENCE_S) -> AbstractIncomingMessage:
        """The next message of a queue."""
        found = await self.find(queue, wait_s)
        assert found is not None, f"nothing came to {queue}"
        return found

    async def find(self, queue: str, wait_s: float) -> AbstractIncomingMessage | None:
        deadline = asyncio.get_running_loop().time() + wait_s
        while True:
            if queue not in self._queues:
                self._queues[queue] = await self.channel.get_queue(queue, ensure=False)
            message = await self._queues[queue].get(fail=False, timeout=PATIENCE_S)
            if message is not None or asyncio.get_running_loop().time() > deadline:
                return message
            await asyncio.sleep(0.02)

    async def take(self, platform: str = "alpha", wait_s: float = PATIENCE_S) -> tuple[JSON, AbstractIncomingMessage]:
        """The next task of a platform, and the message it came in."""
        message = await self.get(f"crawler.{platform}.queue", wait_s)
        return {"task": json.loads(message.body)}, message


@asynccontextmanager
async def wire(url: str, user: str | None = None) -> AsyncIterator[Wire]:
    connection = await aio_pika.connect(url)
    try:
        yield Wire(await connection.channel(on_return_raises=True), user)
    finally:
        async with asyncio.timeout(PATIENCE_S):  # a broker that was killed answers nothing
            await connection.close()
