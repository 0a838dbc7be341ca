"""The server and a worker die at every word that they say to RabbitMQ and Redis: before it left, and after it came to
where it goes but before anybody heard so. Every job ends once, with each document once, and nothing is left anywhere.

A job goes the longest way there is: from a producer through RabbitMQ to the SDK's worker and back, and its documents
through Redis. It is submitted once, by one who does not look after it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Literal

import httpx
import pytest

from leasehold.amqp import declare
from leasehold.amqp.topology import queues
from tests.amqp.conftest import amqp_platform
from tests.faults.undying import PATIENCE_S, Undying, long_gone, run_out, taken_over, undying, until
from tests.parts.amqp_words import Amqp
from tests.parts.broker import JSON, Broker
from tests.parts.house import house
from tests.parts.ports import free_port
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Place
from tests.parts.rabbit import Rabbit
from tests.parts.redis import RedisServer
from tests.parts.redis_words import Resp
from tests.parts.tapped import Tap, When, tapped
from tests.parts.wire import Wire, wire

CRAWLER = """
from leasehold.client.worker import Chunk, Worker

worker = Worker(concurrency=1)


@worker.task("alpha", "page")
async def page(task):
    for n in (1, 2):
        yield Chunk([{"job": task.job_id, "n": n}], cursor=f"p{n}")
"""
Speaker = Literal["server to RabbitMQ", "server to Redis", "worker to RabbitMQ"]
KILLED: tuple[When, ...] = ("before", "after")
EVERY: tuple[When, ...] = ("before", "after", "swallowed")


@dataclass(frozen=True)
class Step:
    """A word that somebody says on a job's way: what is in it, besides the job's name, and how it may go wrong."""

    speaker: Speaker
    pieces: tuple[str, ...]
    whens: tuple[When, ...]


STEPS = {
    "request-acked": Step("server to RabbitMQ", ("ack collector.inbound.queue",), EVERY),
    "task-published": Step("server to RabbitMQ", ("publish  crawler.alpha.queue",), KILLED),
    "result-acked": Step("server to RabbitMQ", ("ack collector.results.queue", '"final":true'), EVERY),
    "chunk-streamed": Step("server to Redis", ("XADD",), KILLED),
    "chunk-acked": Step("server to Redis", ("XACK",), KILLED),
    "chunk-published": Step("worker to RabbitMQ", ("publish collector.results", '"cursor":"p2"'), KILLED),
    "end-published": Step("worker to RabbitMQ", ("publish collector.results", '"final":true'), KILLED),
    "task-acked": Step("worker to RabbitMQ", ("ack", "crawler.alpha.queue"), EVERY),
}


@dataclass(frozen=True)
class Stage:
    """Everything that takes part."""

    server: Undying
    worker: Undying
    taps: dict[Speaker, Tap]
    broker: Broker
    producer: Wire
    database: TestDatabase
    redis: RedisServer

    async def crawled(self, step: Step, when: When, job: str) -> JSON:
        """A job from its request to its end, with one death on the way."""
        tap = self.taps[step.speaker]
        # An entry of the stream is taken out of it by its number, which nobody knows before.
        tap.set(when, *step.pieces, *([] if "XACK" in step.pieces else [job]))
        await self.producer.submit(job_id=job)
        async with asyncio.timeout(PATIENCE_S):
            await tap.blown.wait()
        long_gone(self.database)
        if step is STEPS["task-published"] and when == "before":
            run_out(self.database)
        found: JSON = await until(partial(self._over, job))
        await until(self._is_stream_empty)
        return found

    async def _over(self, job: str) -> JSON | None:
        found = await self.broker.job(job)
        return found if found["ended_at"] else None

    async def _is_stream_empty(self) -> bool:
        return not taken_over(self.redis)


@pytest.fixture
async def stage(
    here: Place, database: TestDatabase, rabbit: Rabbit, amqp_url: str, redis_server: RedisServer
) -> AsyncIterator[Stage]:
    # A lease that nobody loses because a server that was killed takes long to come back.
    alpha = amqp_platform("alpha", lease=300)
    (here.folder / "alpha.yaml").write_text(alpha + "writer: {target: postgres, phase: stream}\n")
    (here.folder / "crawler.py").write_text(CRAWLER)
    async with house(database) as home:
        token = await home.token()
    async with AsyncExitStack() as stack:
        taps: dict[Speaker, Tap] = {
            "server to RabbitMQ": await stack.enter_async_context(tapped(rabbit.port, Amqp)),
            "server to Redis": await stack.enter_async_context(tapped(redis_server.port, Resp)),
            "worker to RabbitMQ": await stack.enter_async_context(tapped(rabbit.port, Amqp)),
        }
        producer = await stack.enter_async_context(wire(amqp_url))
        await declare(producer.channel, ["alpha"])
        port = str(free_port())
        server = await stack.enter_async_context(
            undying(
                here,
                "up",
                "--port",
                port,
                LEASEHOLD_DATABASE_URL=database.url,
                LEASEHOLD_AMQP_URL=_through(amqp_url, rabbit.port, taps["server to RabbitMQ"]),
                LEASEHOLD_REDIS_URL=_through(redis_server.url, redis_server.port, taps["server to Redis"]),
                LEASEHOLD_PLATFORMS_DIR=str(here.folder),
                LEASEHOLD_KEYS=KEYS,
            )
        )
        url = _through(amqp_url, rabbit.port, taps["worker to RabbitMQ"])
        worker = await stack.enter_async_context(undying(here, "worker", "crawler", "--url", url))
        for speaker, tap in taps.items():
            tap.blow = (worker if speaker == "worker to RabbitMQ" else server).kill
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}",
                headers={"Authorization": f"Bearer {token}"},
                trust_env=False,
                timeout=PATIENCE_S,
            )
        )
        await until(lambda: client.get("/v2/jobs/books"))
        yield Stage(server, worker, taps, Broker(client), producer, database, redis_server)


def _through(url: str, port: int, tap: Tap) -> str:
    return url.replace(f":{port}/", f":{tap.port}/")


async def test_whoever_dies_at_any_word_nothing_is_lost_or_doubled(stage: Stage) -> None:
    cases = [(name, step, when) for name, step in STEPS.items() for when in step.whens]
    for name, step, when in cases:
        job = f"{name}-{when}"

        done = await stage.crawled(step, when, job)

        assert done["status"] == "completed", done
        assert await until(partial(stage.broker.documents, job)) == [{"job": job, "n": 1}, {"job": job, "n": 2}], job
        (part,) = done["parts"]
        # Nobody's lease ran out: the work was known again, and not done anew. What never left was given out anew.
        assert (part["attempt"], part["losses"], part["fence"]) == (1, 0, 2 if job == "task-published-before" else 1), (
            job,
            done,
        )
        assert [one["event"] for one in done["history"]].count("completed") == 1, done
    books = (await until(stage.broker.books))["alpha"]
    kills = [step.speaker for _, step, when in cases if when != "swallowed"]

    assert (books["completed"], books["unaccounted"]) == (len(cases), 0)
    assert await until(partial(_is_quiet, stage))
    assert stage.worker.starts == 1 + kills.count("worker to RabbitMQ")
    assert stage.server.starts + stage.worker.starts == 2 + len(kills)


async def _is_quiet(stage: Stage) -> bool:
    """Nothing waits anywhere, and nothing was set aside."""
    names = [one.name for one in queues(["alpha"])]
    waiting = [await stage.producer.channel.declare_queue(name, passive=True) for name in names]
    depths = [one.declaration_result.message_count for one in waiting]
    return not any(depths) and await stage.broker.dead() == []
