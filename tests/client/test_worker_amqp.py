"""A worker on RabbitMQ. The collector is played by a plain AMQP client that knows nothing but the published names."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel, AbstractQueue

from leasehold.client.worker import Chunk, Task, TaskFailed, Worker, WorkerMisconfigured
from tests.client.works import running, until
from tests.parts.rabbit import Rabbit

QUORUM = {"x-queue-type": "quorum"}


class Collector:
    """Publishes tasks and reads results."""

    def __init__(self, channel: AbstractChannel, tasks: AbstractQueue, results: AbstractQueue) -> None:
        self.channel = channel
        self.tasks = tasks
        self.results = results
        self.heard: list[dict[str, Any]] = []
        self.letters: list[aio_pika.abc.AbstractIncomingMessage] = []
        self.verdict = "accepted"

    async def publish(self, job: str, *, lease_seconds: int | None = None, **more: Any) -> None:
        deadline = (datetime.now(UTC) + timedelta(seconds=60)).isoformat()
        names = {"job_id": job, "attempt": 1, "fence": 1, "platform": "alpha", "task_type": "page"}
        writer = {"target": "postgres", "phase": "primary", "crawler_writes": False}
        rest = {"payload": {"page": "front"}, "cursor": None, "deadline_at": deadline, "writer": writer}
        headers: dict[str, Any] = {"organisation": "default"}
        headers |= {"lease_seconds": lease_seconds} if lease_seconds else {}
        await self.send(json.dumps({**names, **rest, **more}).encode(), headers)

    async def send(self, body: bytes, headers: dict[str, Any] | None = None) -> None:
        message = aio_pika.Message(body, headers=headers, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await self.channel.default_exchange.publish(message, self.tasks.name)

    async def hear(self, letter: aio_pika.abc.AbstractIncomingMessage) -> None:
        self.letters.append(letter)
        self.heard.append(json.loads(letter.body))
        if letter.reply_to:
            answer = aio_pika.Message(
                json.dumps({"verdict": self.verdict}).encode(), correlation_id=letter.correlation_id
            )
            await self.channel.default_exchange.publish(answer, letter.reply_to)

    def of(self, job: str, *statuses: str) -> list[dict[str, Any]]:
        wanted = statuses or ("success", "failed", "skipped")
        return [one for one in self.heard if one["job_id"] == job and one["status"] in wanted]

    def is_over(self, job: str) -> bool:
        return any(one.get("final") for one in self.of(job))

    async def depth(self, name: str = "crawler.alpha.queue") -> int:
        queue = await self.channel.declare_queue(name, passive=True)
        return queue.declaration_result.message_count or 0


@asynccontextmanager
async def collecting(url: str, *, listens: bool = True) -> AsyncIterator[Collector]:
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange("collector.results", aio_pika.ExchangeType.FANOUT, durable=True)
        await channel.declare_queue("crawler.alpha.dlq", durable=True, arguments=dict(QUORUM))
        aside = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "crawler.alpha.dlq"}
        tasks = await channel.declare_queue("crawler.alpha.queue", durable=True, arguments={**QUORUM, **aside})
        results = await channel.declare_queue("collector.results.queue", durable=True, arguments=dict(QUORUM))
        await results.bind(exchange)
        made = Collector(channel, tasks, results)
        if listens:
            await results.consume(made.hear, no_ack=True)
        yield made


@pytest.fixture
async def collector(amqp_url: str) -> AsyncIterator[Collector]:
    async with collecting(amqp_url) as made:
        yield made


def crawler(url: str, **options: Any) -> Worker:
    worker = Worker(url, **options)

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        yield Chunk([{"n": 1}], cursor="p1")
        yield Chunk([{"n": 2}], cursor="p2")
        if task.payload["page"] == "bad":
            raise TaskFailed("rate_limited", "slowly", retryable=True)

    return worker


async def test_a_task_of_a_queue_is_worked_on_and_its_results_are_persistent(
    amqp_url: str, collector: Collector
) -> None:
    await collector.publish("one", trace_ctx={"traceparent": "00-aa-bb-01"})
    async with running(crawler(amqp_url)):
        await until(lambda: collector.is_over("one"))
        await until_empty(collector)

    assert collector.heard[0]["status"] == "progress"  # at once: a worker has it
    assert [one["seq"] for one in collector.of("one")] == [1, 2, 3]
    assert [one.get("payload_chunk") for one in collector.of("one")] == [[{"n": 1}], [{"n": 2}], None]
    for letter in collector.letters:
        assert letter.delivery_mode == aio_pika.DeliveryMode.PERSISTENT
        assert letter.headers["organisation"] == "default"
        assert letter.headers["traceparent"] == "00-aa-bb-01"


async def until_empty(collector: Collector) -> None:
    """No message is left, acknowledged or not: a queue that has none can be deleted as empty and unused."""

    async def is_empty() -> bool:
        return await collector.depth() == 0

    await until(is_empty)


async def test_a_failure_is_a_result_and_nothing_is_tried_again_here(amqp_url: str, collector: Collector) -> None:
    await collector.publish("one", payload={"page": "bad"})
    async with running(crawler(amqp_url)):
        await until(lambda: collector.is_over("one"))
        await asyncio.sleep(0.3)

    (last,) = [one for one in collector.of("one") if one.get("final")]
    assert (last["status"], last["errors"][0]["code"]) == ("failed", "rate_limited")
    assert await collector.depth() == 0


async def test_a_task_is_acknowledged_only_after_its_last_result_is_confirmed(amqp_url: str) -> None:
    async with collecting(amqp_url, listens=False) as collector:
        await collector.results.unbind("collector.results")  # nobody takes results: the broker gives them back
        await collector.publish("one")
        async with running(crawler(amqp_url, stop_seconds=0.2, cleanup_seconds=0.2)):
            await asyncio.sleep(1.5)
            unconfirmed = await collector.depth("collector.results.queue")

        async def is_back() -> bool:
            return await collector.depth() == 1

        assert unconfirmed == 0
        await until(is_back)  # it is still there, for another

        await collector.results.bind("collector.results")
        await collector.results.consume(collector.hear, no_ack=True)
        async with running(crawler(amqp_url)):
            await until(lambda: collector.is_over("one"))
        assert await collector.depth() == 0


async def test_at_most_so_many_are_fetched_and_the_others_stay_in_the_queue(
    amqp_url: str, collector: Collector
) -> None:
    worker = Worker(amqp_url, concurrency=2)
    go_on = asyncio.Event()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        await go_on.wait()

    for n in range(5):
        await collector.publish(f"job-{n}")
    async with running(worker):
        await until(lambda: len({one["job_id"] for one in collector.heard}) == 2)
        await asyncio.sleep(0.3)
        begun, left = {one["job_id"] for one in collector.heard}, await collector.depth()
        go_on.set()
        await until(lambda: all(collector.is_over(f"job-{n}") for n in range(5)))

    assert (len(begun), left) == (2, 3)


async def test_signs_of_life_are_given_while_a_function_works(amqp_url: str, collector: Collector) -> None:
    worker = Worker(amqp_url)
    go_on = asyncio.Event()

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        await go_on.wait()

    await collector.publish("one", lease_seconds=1)
    async with running(worker):
        await until(lambda: len(collector.of("one", "progress")) >= 4)
        go_on.set()
        await until(lambda: collector.is_over("one"))

    assert not any("seq" in one for one in collector.of("one", "progress"))


async def test_a_worker_that_is_superseded_stops_and_brings_nothing_more(amqp_url: str, collector: Collector) -> None:
    worker = Worker(amqp_url)
    stopped: list[str] = []

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(task.job_id)
            raise
        yield Chunk([{"n": 1}], cursor="p1")

    await collector.publish("one", lease_seconds=1)
    async with running(worker):
        await until(lambda: collector.heard)
        collector.verdict = "superseded"
        await until(lambda: stopped)

    assert collector.of("one") == []
    assert await collector.depth() == 0  # whoever has it now was told by another message


async def test_what_is_no_task_is_set_aside(amqp_url: str, collector: Collector) -> None:
    await collector.send(b"{")
    await collector.send(b'{"job_id": 7}')
    await collector.publish("one")
    async with running(crawler(amqp_url)):
        await until(lambda: collector.is_over("one"))
        await until(lambda: is_deep(collector, 2))

    assert await collector.depth() == 0


async def is_deep(collector: Collector, count: int) -> bool:
    return await collector.depth("crawler.alpha.dlq") == count


async def test_a_type_without_a_function_fails_by_name(amqp_url: str, collector: Collector) -> None:
    await collector.publish("one", task_type="search")
    async with running(crawler(amqp_url)):
        await until(lambda: collector.is_over("one"))

    assert collector.of("one")[0]["errors"][0]["code"] == "task_type_unknown"


async def test_a_worker_that_stops_gives_back_what_does_not_end_in_time(amqp_url: str, collector: Collector) -> None:
    worker = Worker(amqp_url, stop_seconds=0.1)

    @worker.task("alpha", "page")
    async def page(_task: Task) -> None:
        await asyncio.sleep(60)

    await collector.publish("one")
    async with running(worker):
        await until(lambda: collector.heard)
    await asyncio.sleep(0.2)

    assert collector.of("one") == []
    assert await collector.depth() == 1


@pytest.mark.parametrize("how", ["kill", "stop"])
async def test_a_broker_that_dies_and_comes_back_loses_nothing(amqp_url: str, rabbit: Rabbit, how: str) -> None:
    worker = Worker(amqp_url, concurrency=4)
    begun: list[str] = []
    go_on = asyncio.Event()

    @worker.task("alpha", "page")
    async def page(task: Task) -> AsyncIterator[Chunk]:
        begun.append(task.job_id)
        yield Chunk([{"n": 1}], cursor="p1")
        await go_on.wait()
        yield Chunk([{"n": 2}], cursor="p2")

    async with collecting(amqp_url, listens=False) as collector:
        for n in range(3):
            await collector.publish(f"job-{n}")
    async with running(worker):
        await until(lambda: len(begun) == 3)
        # RabbitMQ 3.10 writes down which quorum queues it has some seconds after they were made.
        await asyncio.sleep(5 if how == "kill" else 0)
        await asyncio.to_thread(getattr(rabbit, how))
        await asyncio.to_thread(rabbit.start)
        go_on.set()
        async with collecting(amqp_url) as collector:
            await until(lambda: all(collector.is_over(f"job-{n}") for n in range(3)))
            await asyncio.sleep(0.5)
            left = await collector.depth()

    cursors = {(one["job_id"], one.get("cursor")) for one in collector.heard if one.get("payload_chunk")}
    assert cursors == {(f"job-{n}", cursor) for n in range(3) for cursor in ("p1", "p2")}
    assert sorted(begun) == ["job-0", "job-1", "job-2"]  # what the broker brings again is known again
    assert left == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda url: url.replace("guest:guest", "guest:wrong"), "password"),
        (lambda url: url, "crawler.alpha.queue"),
    ],
    ids=["password", "queue"],
)
async def test_a_worker_that_cannot_begin_says_why(amqp_url: str, change: Callable[[str], str], said: str) -> None:
    worker = crawler(change(amqp_url))

    with pytest.raises(WorkerMisconfigured, match=said) as refused:
        await asyncio.wait_for(worker.serve(), 20)

    assert "guest:" not in str(refused.value)
