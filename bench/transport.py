"""Tasks and results through RabbitMQ: our transport against bare aio-pika on the same node, in turns.

Ours moves two messages for a job: its task to the worker, and the result back. Both are published persistent and
mandatory, with confirms, and acknowledged; in between lies everything a job is: leases and limits, the result taken in,
written and committed, the job completed. The bare loop moves its messages and does nothing else.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from bench.server import KEYS
from leasehold.app import build, organisations
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.jobs import CrawlRequest, Jobs
from leasehold.settings import Settings
from leasehold.vault import Keyring

PLATFORM = "bench-amqp"
FILE = f"""
platform: {PLATFORM}
transport: amqp
task_types:
  page:
    schema: {{type: object, required: [page], additionalProperties: false, properties: {{page: {{type: string}}}}}}
    example: {{page: front}}
limits: {{concurrency: 2000, rate: {{tasks: 1000000, per_seconds: 1.0, burst: 1000000}}}}
"""
MESSAGES_OF_A_JOB = 2
_BATCH = 500
_WARM = 500
_PATIENCE_S = 120.0


@contextmanager
def _process(*words: str, ready: str, env: dict[str, str] | None = None) -> Iterator[None]:
    started = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True, env=env)
    try:
        if started.stdout is None or ready not in started.stdout.readline():
            raise RuntimeError(f"{words[0]} did not start; it says why above")
        yield
    finally:
        started.terminate()
        started.wait(30)


def through(url: str, broker: str, folder: Path, jobs: int) -> float:
    """Messages per second: jobs that were accepted before go out, are done, come back and are completed."""
    own = {
        "LEASEHOLD_DATABASE_URL": url,
        "LEASEHOLD_KEYS": KEYS,
        "LEASEHOLD_AMQP_URL": broker,
        "LEASEHOLD_PLATFORMS_DIR": str(folder),
        "LEASEHOLD_LOG_LEVEL": "warning",
    }
    with ExitStack() as running:
        for duty in ("dispatcher", "aggregator"):
            words = ("leasehold", "work", "--only", duty)
            running.enter_context(_process(*words, ready="works", env={**os.environ, **own}))
        queue = f"crawler.{PLATFORM}.queue"
        running.enter_context(_process("bench.crawler", "--broker", broker, "--queue", queue, ready="ready"))
        asyncio.run(_timed(url, folder, _WARM))  # connections, plans
        took = asyncio.run(_timed(url, folder, jobs))
    return jobs * MESSAGES_OF_A_JOB / took


async def _timed(url: str, folder: Path, jobs: int) -> float:
    """Seconds from when the platform is let go to when all of its jobs are completed."""
    app = build(Settings(database_pool_size=4, platforms_dir=folder), url, Keyring.parse(KEYS), duties=())
    async with app.router.lifespan_context(app):
        caller = await _somebody(app.state.db)
        await app.state.jobs.pause(caller, PLATFORM, None)
        await _accept(app.state.jobs, caller, jobs)
        began = time.perf_counter()
        await app.state.jobs.resume(caller, PLATFORM)
        await asyncio.to_thread(_wait_until_done, url)
        return time.perf_counter() - began


async def _somebody(db: Database) -> Caller:
    (organisation, _slug), *_ = await organisations(db)
    return Caller(organisation, None, "bench", frozenset())


async def _accept(jobs: Jobs, caller: Caller, many: int) -> None:
    request = CrawlRequest(platform=PLATFORM, task_type="page", payload={"page": "front"})
    for first in range(0, many, _BATCH):
        await jobs.submit_many(caller, [request] * min(_BATCH, many - first))


def _wait_until_done(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    with psycopg.connect(url, autocommit=True) as conn:
        while True:
            row = conn.execute(
                "SELECT count(*) FROM task WHERE ended_at IS NULL AND platform = %s", [PLATFORM]
            ).fetchone()
            if row is not None and row[0] == 0:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"{row} jobs are not done after {_PATIENCE_S:.0f} seconds")
            time.sleep(0.02)
