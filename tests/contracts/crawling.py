"""A producer and a worker over each transport, for promises that hold whichever it is."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from aio_pika.abc import AbstractIncomingMessage

from leasehold.amqp import declare
from tests.parts.broker import Broker
from tests.parts.postgres import TestDatabase
from tests.parts.wire import PATIENCE_S, Wire, wire

JSON = dict[str, Any]
# Long enough for a round of the dispatcher: what has not come by then does not come.
NOTHING_S = 4.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A task in a worker's hands."""

    task: JSON
    message: AbstractIncomingMessage | None = None
    lease: str | None = None

    def says(self, **more: Any) -> JSON:
        names = ("job_id", "attempt", "fence", "platform", "task_type")
        return {**{name: self.task[name] for name in names}, "status": "success", **more}


class Crawling(Protocol):
    """What a producer and a worker can do. The operator speaks HTTP either way."""

    operator: Broker
    database: TestDatabase

    async def submit(self, job: str, **more: Any) -> None:
        """Ask for a crawl; it is taken in when this returns."""

    async def take(self, wait_s: float = PATIENCE_S) -> Taken | None:
        """The next task of `alpha`, or None when none comes in time."""

    async def bring(self, taken: Taken, *results: JSON) -> list[str]:
        """Bring results, and hear a verdict for each."""

    async def finish(self, taken: Taken) -> None:
        """The worker has no more to do with it."""


@dataclass
class OverHttp:
    operator: Broker
    database: TestDatabase

    async def submit(self, job: str, **more: Any) -> None:
        await self.operator.submit(job_id=job, **more)

    async def take(self, wait_s: float = PATIENCE_S) -> Taken | None:
        found = (await self.operator.offer(wait_seconds=min(int(wait_s), 30)))["leases"]
        return Taken(found[0]["task"], lease=found[0]["id"]) if found else None

    async def bring(self, taken: Taken, *results: JSON) -> list[str]:
        return await self.operator.verdicts(*results)

    async def finish(self, taken: Taken) -> None:
        pass


@dataclass
class OverAmqp:
    operator: Broker
    database: TestDatabase
    line: Wire
    _verdicts: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def submit(self, job: str, **more: Any) -> None:
        await self.line.submit(job_id=job, **more)
        async with asyncio.timeout(PATIENCE_S):
            while (await self.operator.client.get(f"/v2/jobs/{job}")).status_code != 200:
                await asyncio.sleep(0.02)

    async def take(self, wait_s: float = PATIENCE_S) -> Taken | None:
        found = await self.line.find("crawler.alpha.queue", wait_s)
        return Taken(json.loads(found.body), found) if found else None

    async def bring(self, taken: Taken, *results: JSON) -> list[str]:
        """Together, as a worker does; the answers come in the order of the questions."""
        for result in results:
            await self.line.bring(result, reply_to="amq.rabbitmq.reply-to")
        async with asyncio.timeout(PATIENCE_S):
            return [await self._verdicts.get() for _ in results]

    async def finish(self, taken: Taken) -> None:
        assert taken.message is not None
        await taken.message.ack()

    async def hear(self, message: AbstractIncomingMessage) -> None:
        self._verdicts.put_nowait(json.loads(message.body)["verdict"])


@asynccontextmanager
async def over_amqp(operator: Broker, database: TestDatabase, url: str) -> AsyncIterator[OverAmqp]:
    async with wire(url) as line:
        await declare(line.channel, ["alpha"])
        made = OverAmqp(operator, database, line)
        replies = await line.channel.get_queue("amq.rabbitmq.reply-to", ensure=False)
        await replies.consume(made.hear, no_ack=True)
        yield made


def moved(database: TestDatabase) -> None:
    """As if every worker had been silent for too long."""
    database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second' WHERE kind = 'task'")
    database.run("UPDATE task SET back_at = clock_timestamp() - interval '1 second' WHERE back_at IS NOT NULL")


__all__ = ["NOTHING_S", "Crawling", "OverAmqp", "OverHttp", "Taken", "moved", "over_amqp"]
