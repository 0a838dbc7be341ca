"""What the jobs are held against: Procrastinate on the same PostgreSQL, doing nothing in its tasks either."""

import argparse
import asyncio
import json
import time
from contextlib import suppress
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException

_BATCH = 100
_ARGUMENTS: dict[str, Any] = {"page": "front"}


async def run(url: str, jobs: int, concurrency: int) -> float:
    """Jobs per second from the first defer to the end of the last task, deferred in batches while a worker runs."""
    app = App(connector=PsycopgConnector(conninfo=url, min_size=2, max_size=concurrency + 4))
    done = 0
    finished = asyncio.Event()

    @app.task(name="nothing", queue="bench")
    async def nothing(page: str) -> None:
        nonlocal done
        done += 1
        if done == jobs:
            finished.set()

    async with app.open_async():
        with suppress(ConnectorException):  # it is there from the round before
            await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(
            app.run_worker_async(
                queues=["bench"], concurrency=concurrency, install_signal_handlers=False, listen_notify=True
            )
        )
        began = time.perf_counter()
        for first in range(0, jobs, _BATCH):
            await nothing.batch_defer_async(*(_ARGUMENTS for _ in range(first, min(jobs, first + _BATCH))))
        await finished.wait()
        while _unfinished(url):
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    return jobs / took


def _unfinished(url: str) -> int:
    with psycopg.connect(url) as conn:
        row = conn.execute("SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')").fetchone()
        return int(row[0]) if row else 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps({"jobs_per_second": asyncio.run(run(given.database, given.jobs, given.concurrency))}))


if __name__ == "__main__":
    main()
