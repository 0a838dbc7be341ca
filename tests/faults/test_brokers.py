"""Jobs go through RabbitMQ and Redis while these are killed, fall silent, lose a queue and take nothing more, and
messages come twice, late and in any order: every job ends once, with each document once, and HTTP feels nothing of it.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from leasehold.amqp import declare
from tests.amqp.conftest import amqp_platform
from tests.faults.undying import until
from tests.parts.broker import JSON, Broker, chunk, last
from tests.parts.house import house
from tests.parts.ports import free_port
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Leasehold, Place
from tests.parts.rabbit import Rabbit
from tests.parts.redis import RedisServer
from tests.parts.weather import Sky, Weather, over
from tests.parts.wire import Wire, wire

SEED = 20_264
PAUSE_S = 0.1
DOUBLED = 0.1
WINDOW = 12
REFUSED = "amqp.unpublished"
MUST = (
    "over HTTP in a fault",
    "over RabbitMQ",
    "sent twice",
    "doubled",
    "late",
    "out of order",
    "poison",
    "lines lost",
)


@dataclass
class Load:
    """What producers and workers did, and what they were told."""

    rng: random.Random
    url: str
    broker: Broker
    jobs: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    # Nothing more is asked for; and then nothing is left to do.
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    fault: str | None = None
    _unsure: str | None = None
    _window: list[JSON] = field(default_factory=list)
    _old: list[JSON] = field(default_factory=list)

    async def ask(self) -> None:
        """Over HTTP: whatever happens to the brokers, it is taken in."""
        while not self.closed.is_set():
            job = f"h{len(self.jobs)}"
            await self.broker.submit(job_id=job)
            self.jobs.add(job)
            self.seen["over HTTP in a fault"] += self.fault is not None
            await asyncio.sleep(PAUSE_S)

    async def send(self, line: Wire) -> None:
        """Through RabbitMQ, each until it is confirmed; now and then once more, or something that is no request."""
        while self._unsure or not self.closed.is_set():
            self._unsure = job = self._unsure or f"r{len(self.jobs)}"
            await line.submit(job_id=job)
            self.jobs.add(job)
            self._unsure = None
            self.seen["over RabbitMQ"] += 1
            if self.rng.random() < DOUBLED:
                await line.submit(job_id=job)
                self.seen["sent twice"] += 1
            if self.rng.random() < DOUBLED:
                await line.send("collector.inbound", "crawler.alpha", b'{"job_id": ')
                self.seen["poison"] += 1
            await asyncio.sleep(PAUSE_S)

    async def work(self, line: Wire) -> None:
        """A worker whose results overtake each other on their way."""
        while not self.over.is_set():
            message = await line.find("crawler.alpha.queue", 0.3)
            if message is not None:
                lease = {"task": json.loads(message.body)}
                documents = [{"job": lease["task"]["job_id"], "n": n} for n in (1, 2)]
                told = [chunk(lease, f"p{n}", one, seq=n) for n, one in enumerate(documents, start=1)]
                self._window += self._mixed([*told, last(lease, seq=3)])
            if message is None or len(self._window) > WINDOW:
                sent, self._window = self._window, []
                self.rng.shuffle(sent)
                self.seen["out of order"] += len(sent) > 3
                try:
                    await line.bring(*sent)
                except BaseException:
                    self._window = sent + self._window  # some may have arrived: they go again
                    raise
                self._old = [*sent, *self._old][:40]
            if message is not None:
                await message.ack()

    def _mixed(self, told: list[JSON]) -> list[JSON]:
        twice = [one for one in told if self.rng.random() < DOUBLED]
        late = self.rng.sample(self._old, 1) if self._old and self.rng.random() < DOUBLED else []
        self.seen["doubled"] += len(twice)
        self.seen["late"] += len(late)
        return told + twice + late

    async def again(self, what: Callable[[Wire], Awaitable[None]]) -> None:
        """On a line that is made anew whenever it is lost."""
        while True:
            try:
                async with wire(self.url) as line:
                    return await what(line)
            except (*CONNECTION_EXCEPTIONS, TimeoutError):
                self.seen["lines lost"] += 1
            except asyncio.CancelledError:  # what waits on a channel that is closed is cancelled
                if (task := asyncio.current_task()) and task.cancelling():
                    raise
            await asyncio.sleep(PAUSE_S)


@dataclass
class Stage:
    """Everything that takes part, and what is done to it."""

    server: Leasehold
    load: Load
    sky: Sky
    rabbit: Rabbit
    redis: RedisServer

    async def fall_silent(self) -> None:
        """The broker takes everything and answers nothing, until somebody notices."""
        self.sky.turn(Weather.SILENT)
        await self._refused()
        self.sky.turn(Weather.FAIR)

    async def raise_the_alarm(self) -> None:
        """The broker is short of memory and reads nothing of who publishes, until somebody notices."""
        await asyncio.to_thread(self.rabbit.control, "set_vm_memory_high_watermark", "0.00001")
        await self._refused()
        await asyncio.to_thread(self.rabbit.control, "set_vm_memory_high_watermark", "0.4")

    async def delete_the_queue(self) -> None:
        async with wire(self.load.url) as line:
            await line.channel.queue_delete("crawler.alpha.queue")
        await self._more()

    async def kill_redis(self) -> None:
        await asyncio.to_thread(self.redis.kill)
        await self._more()
        await asyncio.to_thread(self.redis.start)

    async def kill_rabbit(self) -> None:
        await asyncio.to_thread(self.rabbit.kill)
        await self._more()
        await asyncio.to_thread(self.rabbit.start)

    async def torment(self) -> None:
        """One after the other, in an order that the seed decides; there is work in between."""
        faults = [self.fall_silent, self.raise_the_alarm, self.delete_the_queue, self.kill_redis]
        self.load.rng.shuffle(faults)
        # It is killed last: a RabbitMQ 3.10 that is killed as soon as a quorum queue is made may come back with one
        # that takes nothing.
        for fault in (*faults, self.kill_rabbit):
            await self._done_more()
            self.load.fault = fault.__name__
            await fault()
            self.load.fault = None
        await self._done_more()

    async def is_all_done(self) -> bool:
        books = (await self.load.broker.books())["alpha"]
        return bool(books["completed"] == len(self.load.jobs) and not books["unaccounted"])

    async def is_all_seen(self) -> bool:
        return all(self.load.seen[what] for what in MUST)

    async def _refused(self) -> None:
        """The dispatcher has found out, and given back what it could not publish."""
        before = self.server.err.count(REFUSED)

        async def is_refused() -> bool:
            return self.server.err.count(REFUSED) > before

        await until(is_refused)

    async def _more(self) -> None:
        """There was more to do meanwhile."""
        enough = self.load.seen["over HTTP in a fault"] + 5

        async def has_come() -> bool:
            return self.load.seen["over HTTP in a fault"] >= enough

        await until(has_come)

    async def _done_more(self) -> None:
        """It works, and more jobs are completed than before."""
        enough = await self._completed() + 5

        async def is_done() -> bool:
            return await self._completed() >= enough

        await until(is_done)

    async def _completed(self) -> int:
        return int((await self.load.broker.books()).get("alpha", {}).get("completed", 0))


@pytest.fixture
async def stage(
    here: Place, database: TestDatabase, rabbit: Rabbit, amqp_url: str, redis_server: RedisServer
) -> AsyncIterator[Stage]:
    text = amqp_platform("alpha", concurrency=200) + "writer: {target: postgres, phase: stream}\n"
    (here.folder / "alpha.yaml").write_text(text)
    async with house(database) as home:
        token = await home.token()
    async with AsyncExitStack() as stack:
        sky = await stack.enter_async_context(over(rabbit.port))
        async with wire(amqp_url) as line:
            await declare(line.channel, ["alpha"])
        server = here.start(
            "up",
            "--port",
            str(free_port()),
            LEASEHOLD_DATABASE_URL=database.url,
            LEASEHOLD_AMQP_URL=amqp_url.replace(f":{rabbit.port}/", f":{sky.port}/"),
            LEASEHOLD_REDIS_URL=redis_server.url,
            LEASEHOLD_PLATFORMS_DIR=str(here.folder),
            LEASEHOLD_KEYS=KEYS,
            LEASEHOLD_LOG_LEVEL="warning",
        )
        await asyncio.to_thread(server.ready)
        headers = {"Authorization": f"Bearer {token}"}
        made = httpx.AsyncClient(base_url=server.address, headers=headers, trust_env=False, timeout=60)
        client = await stack.enter_async_context(made)
        load = Load(random.Random(SEED), amqp_url, Broker(client))  # noqa: S311
        yield Stage(server, load, sky, rabbit, redis_server)


async def test_whatever_happens_to_the_brokers_every_job_ends_once(
    stage: Stage, here: Place, database: TestDatabase
) -> None:
    load = stage.load
    async with asyncio.TaskGroup() as group:
        for does in (load.ask(), load.again(load.send), load.again(load.work)):
            group.create_task(does)
        await stage.torment()
        await until(stage.is_all_seen)
        load.closed.set()
        await until(stage.is_all_done)
        load.over.set()

    told = f"seed {SEED}, {len(load.jobs)} jobs, {dict(load.seen)}"
    documents = database.rows("SELECT document->>'job', document->>'n' FROM result")
    assert sorted(documents) == sorted((job, n) for job in load.jobs for n in ("1", "2")), told
    dead = database.rows("SELECT reason, count(*) FROM dead_letter GROUP BY 1")
    assert [reason for reason, _ in dead] == ["unreadable"], told
    assert dead[0][1] >= load.seen["poison"], told
    verified = await asyncio.to_thread(here.run, "verify", LEASEHOLD_DATABASE_URL=database.url, LEASEHOLD_KEYS=KEYS)
    assert verified.code == 0, verified.out
