"""The server dies at every step of a job's way, before and after it is committed: each document is kept once, and the
job ends once.

Results go through Redis into MongoDB, so that there are as many steps as there can be.
"""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.contracts.crawling import moved
from tests.faults.undying import PATIENCE_S, Undying, long_gone, taken_over, undying, until
from tests.jobs.conftest import platform
from tests.parts.broker import JSON, Broker, chunk, last
from tests.parts.fuse import Fuse, When, fused
from tests.parts.house import house
from tests.parts.mongo import MongoDatabase
from tests.parts.ports import free_port
from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Place
from tests.parts.redis import RedisServer

# A piece of the statement that makes each step what it is.
STEPS = {
    "taken in": "INSERT INTO job ",
    "handed out": "SET status = 'dispatched'",
    "accepted": "INSERT INTO receipt ",
    "put into the stream": "SET streamed_at = clock_timestamp()",
    "confirmed": "SET written_at = clock_timestamp()",
}


@pytest.fixture
async def fuse(database: TestDatabase) -> AsyncIterator[Fuse]:
    async with fused(database.url) as made:
        yield made


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
async def server(
    here: Place,
    fuse: Fuse,
    database: TestDatabase,
    mongo_database: MongoDatabase,
    redis_server: RedisServer,
    port: int,
    tmp_path: Path,
) -> AsyncIterator[Undying]:
    (tmp_path / "alpha.yaml").write_text(platform("alpha") + "writer: {target: mongo, phase: stream}\n")
    host, _, options = mongo_database.url.partition("?")
    place = conninfo_to_dict(database.url)
    environment = {
        "LEASEHOLD_DATABASE_URL": f"postgresql://{place['user']}@127.0.0.1:{fuse.port}/{place['dbname']}",
        "LEASEHOLD_MONGO_URL": f"{host}{mongo_database.name}?{options}",
        "LEASEHOLD_REDIS_URL": redis_server.url,
        "LEASEHOLD_PLATFORMS_DIR": str(tmp_path),
        "LEASEHOLD_KEYS": KEYS,
    }
    async with undying(here, "up", "--port", str(port), **environment) as made:
        yield made


def end(server: Undying, database: TestDatabase, step: str) -> None:
    """Kill it, and let the time pass that others have to wait for one who is dead."""
    server.kill()
    long_gone(database)
    if step == "handed out":
        moved(database)  # nobody was told of the lease


async def crawled(broker: Broker, job: str, redis: RedisServer) -> JSON:
    """A job from its request to its end, by a producer and a worker who do not give up."""
    await until(lambda: broker.submit(job_id=job))
    found: JSON = await until(partial(_turn, broker, job, redis))
    return found


async def _turn(broker: Broker, job: str, redis: RedisServer) -> JSON | None:
    """The job, if it is over; else whatever can be done for it."""
    if (found := await broker.job(job))["ended_at"]:
        return found
    taken_over(redis)
    if (lease := await _task(broker, job)) is not None:
        results = [chunk(lease, "p1", {"job": job, "n": 1}), chunk(lease, "p2", {"job": job, "n": 2}), last(lease)]
        # Who was superseded while the server was down takes it again; a conflict or a refusal is a fault.
        told = await until(lambda: broker.verdicts(*results))
        if not set(told) <= {"accepted", "duplicate", "superseded"}:
            pytest.fail(f"{told}")
    return None


async def _task(broker: Broker, job: str) -> JSON | None:
    for lease in (await broker.offer(limit=5, ttl_seconds=5, wait_seconds=1))["leases"]:
        if lease["task"]["job_id"] == job:
            found: JSON = lease
            return found
    return None


async def test_a_server_that_is_killed_at_any_step_loses_and_doubles_nothing(
    server: Undying, fuse: Fuse, database: TestDatabase, redis_server: RedisServer, port: int
) -> None:
    async with house(database) as home:
        token = await home.token()
    headers, address = {"Authorization": f"Bearer {token}"}, f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, trust_env=False, timeout=PATIENCE_S) as client:
        broker = Broker(client)
        await until(lambda: client.get("/v2/jobs/books"))
        whens: tuple[When, When] = ("before", "after")
        for step, statement in STEPS.items():
            for when in whens:
                job = f"{step} {when}".replace(" ", "-")
                fuse.set(statement, when)
                fuse.blow = partial(end, server, database, step)

                done = await crawled(broker, job, redis_server)

                assert fuse.blown.is_set(), f"nobody came by {step!r}"
                assert done["status"] == "completed", done
                documents = await until(partial(broker.documents, job))
                assert documents == [{"job": job, "n": 1}, {"job": job, "n": 2}], (step, when)
        books = (await until(broker.books))["alpha"]

    assert (books["completed"], books["unaccounted"]) == (2 * len(STEPS), 0)
    assert server.starts == 1 + 2 * len(STEPS)
