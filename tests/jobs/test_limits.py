"""Limits of platforms under many workers and several servers: never more in hand than a platform bears."""

import asyncio
from pathlib import Path

from tests.jobs.conftest import platform
from tests.parts.broker import Broker, last
from tests.parts.house import house
from tests.parts.postgres import TestDatabase

LIMIT = 5
JOBS = 60


async def test_the_limit_holds_over_servers_and_every_job_is_done_once(database: TestDatabase, folder: Path) -> None:
    (folder / "alpha.yaml").write_text(platform("alpha", concurrency=LIMIT))
    most = 0
    done: list[str] = []

    async def work(broker: Broker) -> None:
        nonlocal most
        while len(done) < JOBS:
            for lease in (await broker.offer(limit=3, wait_seconds=1))["leases"]:
                held = database.rows("SELECT count(*) FROM task WHERE lease IS NOT NULL")[0][0]
                most = max(most, held)
                await broker.bring(last(lease))
                done.append(lease["task"]["job_id"])

    async with house(database, platforms_dir=folder) as one, house(database, platforms_dir=folder) as two:
        brokers = [Broker(await home.caller()) for home in (one, two)]
        for n in range(JOBS):
            await brokers[0].submit(job_id=f"j{n}")
        async with asyncio.timeout(60):
            await asyncio.gather(*(work(broker) for broker in brokers for _ in range(6)))
        books = (await brokers[0].books())["alpha"]

    assert 1 < most <= LIMIT
    assert sorted(done) == sorted(f"j{n}" for n in range(JOBS))
    assert (books["completed"], books["live"], books["unaccounted"]) == (JOBS, 0, 0)
