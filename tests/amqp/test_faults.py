"""Whatever dies, a broker or one of us: every job ends once, and the books balance."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest
from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from tests.amqp.conftest import amqp_platform
from tests.faults.undying import long_gone
from tests.parts.broker import Broker, chunk, last
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Leasehold, Place
from tests.parts.rabbit import Rabbit
from tests.parts.wire import Wire, wire

JOBS = 40


async def work(url: str, done: asyncio.Event) -> None:
    """A worker that comes back whenever its line is cut. What it was doing then, it does again."""
    while not done.is_set():
        with suppress(*CONNECTION_EXCEPTIONS, TimeoutError, AssertionError):
            async with wire(url) as line:
                await _work(line, done)
        await asyncio.sleep(0.1)


async def _work(line: Wire, done: asyncio.Event) -> None:
    while not done.is_set():
        message = await line.find("crawler.alpha.queue", 0.5)
        if message is None:
            continue
        lease = {"task": json.loads(message.body)}
        await line.bring(chunk(lease, "p1", {"n": 1}), last(lease))
        await message.ack()


async def all_done(broker: Broker, jobs: int, wait_s: float = 150) -> None:
    async with asyncio.timeout(wait_s):
        while (await broker.books()).get("alpha", {}).get("completed") != jobs:
            await asyncio.sleep(0.2)


def check(database: TestDatabase, jobs: int) -> None:
    assert database.rows("SELECT count(*) FROM job WHERE status = 'completed'") == [(jobs,)]
    assert database.rows("SELECT count(*) FROM result") == [(jobs,)]
    assert database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL OR attempt > 1") == [(0,)]
    assert database.rows("SELECT count(*) FROM lease") == [(0,)]


async def test_the_broker_stops_or_dies_and_comes_back(
    home: House, line: Wire, broker: Broker, rabbit: Rabbit, amqp_url: str
) -> None:
    done = asyncio.Event()
    workers = [asyncio.create_task(work(amqp_url, done)) for _ in range(2)]
    # It is killed last: a RabbitMQ 3.10 that is killed as soon as its quorum queues are made may come back with queues
    # that take nothing.
    for round_, end in enumerate((rabbit.stop, rabbit.kill), start=1):
        async with wire(amqp_url) as producer:
            for n in range(JOBS // 2):
                await producer.submit(job_id=f"a{round_}-{n}")
        for n in range(JOBS // 2):
            await broker.submit("alpha", job_id=f"b{round_}-{n}")

        await asyncio.to_thread(end)
        await broker.submit("alpha", job_id=f"meanwhile{round_}")
        await asyncio.to_thread(rabbit.start)
        await all_done(broker, round_ * (JOBS + 1))
    done.set()
    await asyncio.gather(*workers)

    check(home.database, 2 * (JOBS + 1))
    assert await broker.dead() == []


@pytest.fixture
def folder(here: Place) -> Path:
    found = here.folder / "platforms"
    found.mkdir()
    (found / "alpha.yaml").write_text(amqp_platform("alpha", concurrency=5))
    return found


def start(here: Place, words: str, database: TestDatabase, folder: Path, amqp_url: str) -> Leasehold:
    environment = {
        "LEASEHOLD_DATABASE_URL": database.url,
        "LEASEHOLD_AMQP_URL": amqp_url,
        "LEASEHOLD_PLATFORMS_DIR": str(folder),
        "LEASEHOLD_KEYS": KEYS,
    }
    return here.start(*words.split(), **environment)


async def said(process: Leasehold, text: str) -> None:
    async with asyncio.timeout(60):
        while text not in process.out:
            assert process.process.poll() is None, process.err
            await asyncio.sleep(0.05)


async def test_dispatchers_and_aggregators_are_killed_again_and_again(
    here: Place, database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    """The API has neither: whatever happens with tasks, these processes do it."""
    duties = "work --only dispatcher,aggregator,reaper"
    done = asyncio.Event()
    async with house(database, platforms_dir=folder, amqp_url=amqp_url) as home:
        broker = Broker(await home.caller())
        running = start(here, duties, database, folder, amqp_url)
        await said(running, "Ctrl-C stops it.")
        workers = [asyncio.create_task(work(amqp_url, done)) for _ in range(2)]
        for n in range(JOBS):
            await broker.submit("alpha", job_id=f"j{n}")
            if n in (5, 15, 25):
                await asyncio.to_thread(running.kill)
                long_gone(database)
                running = start(here, duties, database, folder, amqp_url)
        await all_done(broker, JOBS)
        done.set()
        await asyncio.gather(*workers)

        check(database, JOBS)
        assert await broker.dead() == []
        assert await asyncio.to_thread(running.end) == 0


async def test_work_that_there_is_not_is_refused_in_a_sentence(here: Place) -> None:
    told = await asyncio.to_thread(here.run, "work", "--only", "dispatcher,juggler")

    assert told.code == 2
    assert "'juggler'" in told.err
    assert "dispatcher, aggregator" in told.err
