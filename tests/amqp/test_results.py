"""Results that come through RabbitMQ: booked together, answered if somebody asks, buried when they are of no use."""

import asyncio
import json
from pathlib import Path

from aio_pika.abc import AbstractIncomingMessage

from tests.amqp.conftest import amqp_platform
from tests.amqp.test_way import until
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House
from tests.parts.rabbit import Rabbit
from tests.parts.wire import Wire

BOTH = {"collector.results.queue", "collector.inbound.queue"}
# The broker counts what is in a queue so often.
TICK_S = 6.0


async def test_what_is_no_result_is_a_dead_letter_and_stops_nobody(broker: Broker, line: Wire) -> None:
    await line.submit(job_id="j")
    lease, message = await line.take()

    await line.send("collector.results", "", b"\xff")
    await line.bring({"job_id": "j"}, {**last(lease), "fence": 9}, {**last(lease), "job_id": "nobody"}, last(lease))
    await message.ack()

    async def are_buried() -> bool:
        return len(await broker.dead()) == 4

    await until(lambda: _is_over(broker, "j"))
    await until(are_buried)  # right after what came together with them is booked
    reasons = sorted(letter["reason"] for letter in await broker.dead())
    assert reasons == ["invalid", "invalid", "invalid", "unreadable"]
    assert (await broker.job("j"))["status"] == "completed"


async def test_one_that_no_database_takes_does_not_take_the_others_with_it(broker: Broker, line: Wire) -> None:
    await line.submit(job_id="j")
    lease, message = await line.take()

    await line.bring(chunk(lease, "p1", {"n": "\0"}), chunk(lease, "p\0", {"n": 2}), last(lease))
    await message.ack()

    await until(lambda: _is_over(broker, "j"))
    assert await broker.documents("j") == [{"n": "\N{REPLACEMENT CHARACTER}"}]
    assert [letter["reason"] for letter in await broker.dead()] == ["invalid"]


async def test_a_verdict_goes_to_a_queue_of_the_asker_and_to_no_other(broker: Broker, line: Wire) -> None:
    await line.submit(job_id="j")
    lease, message = await line.take()
    mine = await line.channel.declare_queue(exclusive=True)
    heard: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
    await mine.consume(heard.put, no_ack=True)

    await line.bring(chunk(lease, "p1", {"n": 1}), reply_to="crawler.beta.queue")
    await line.bring(chunk(lease, "p1", {"n": 1}), reply_to=mine.name, correlation_id="c1")
    async with asyncio.timeout(30):
        answer = await heard.get()
    await line.bring(last(lease))
    await message.ack()

    assert (json.loads(answer.body)["verdict"], answer.correlation_id) == ("duplicate", "c1")
    assert await line.find("crawler.beta.queue", 0.5) is None


async def _is_over(broker: Broker, job: str) -> bool:
    return bool((await broker.job(job))["ended_at"])


async def test_nothing_is_acknowledged_before_it_is_committed(
    broker: Broker, home: House, folder: Path, line: Wire, rabbit: Rabbit, amqp_url: str
) -> None:
    """It waits for the database: a table that somebody has locked keeps the messages in the broker."""
    database = home.database
    # However long the broker takes to count what it has, nobody loses the task meanwhile.
    text = amqp_platform("alpha").replace("lease_seconds: 5", "lease_seconds: 300")
    (folder / "alpha.yaml").write_text(text)
    home.app.state.jobs.catalogue.reload()
    await line.submit(job_id="j")
    lease, message = await line.take()
    await message.ack()

    def left() -> set[str]:
        vhost = amqp_url.rpartition("/")[2]
        told = rabbit.control("list_queues", "-p", vhost, "--no-table-headers", "name", "messages")
        return {name for name, count in (line.split("\t") for line in told.strip().splitlines()) if count != "0"}

    async def is_empty() -> bool:
        return not await asyncio.to_thread(left)

    async def are_both_left() -> bool:
        return await asyncio.to_thread(left) == BOTH

    async def have_both_come() -> bool:
        waits = "datname = current_database() AND wait_event_type = 'Lock' AND query ~* '(FROM|INTO) (job|task)'"
        return database.rows(f"SELECT count(*) FROM pg_stat_activity WHERE {waits}") >= [(2,)]

    with database.connect() as other, other.transaction():
        other.execute("LOCK TABLE job IN ACCESS EXCLUSIVE MODE")
        await line.bring(last(lease))
        await line.submit(job_id="k")
        await until(have_both_come)
        await until(are_both_left)
        await asyncio.sleep(TICK_S)
        during = await asyncio.to_thread(left)
    await until(lambda: _is_over(broker, "j"))
    await (await line.take())[1].ack()

    assert during == BOTH
    await until(is_empty)
