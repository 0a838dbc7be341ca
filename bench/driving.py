"""Takes items through the house, as a run or as bare jobs, in a process of its own; tells what that cost in CPU."""

import argparse
import asyncio
import json
import time
from typing import Any, cast

import psutil
import psycopg
import uvloop
from fastapi import FastAPI

from bench.server import KEYS
from bench.zero import CATEGORY, Zero, ZeroShelf
from leasehold import logs
from leasehold.app import build
from leasehold.caller import Caller
from leasehold.duties import Duty
from leasehold.jobs import CrawlRequest
from leasehold.runs.machine import Act
from leasehold.runs.shelf import Shelf
from leasehold.runs.workers import Worker
from leasehold.settings import Settings
from leasehold.vault import Keyring

_BATCH = 100
# As many as a driver has in the broker's hands.
_WINDOW = 200


def postgres_cpu_s(conn: psycopg.Connection[Any]) -> float:
    """What PostgreSQL has used so far: the postmaster, its children, and those that are gone."""
    postmaster = psutil.Process(conn.info.backend_pid).parent()
    if postmaster is None:
        raise RuntimeError("PostgreSQL is not on this machine")
    own = postmaster.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in postmaster.children(recursive=True):
        times = child.cpu_times()
        total += times.user + times.system
    return float(total)


def completed(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute("SELECT count(*) FROM job WHERE status = 'completed'").fetchone()
    return int(row[0]) if row else 0


async def bare(app: FastAPI, conn: psycopg.Connection[Any], caller: Caller, items: int) -> None:
    """The same jobs, submitted in batches as room comes, and worked on by the same worker."""
    jobs, done, zero = app.state.jobs, completed(conn), Zero(items)
    worker = Worker(jobs, lambda _organisation: {Zero.slug: zero}, caller.organisation, "bench", grace_s=8.0)
    working = asyncio.create_task(worker.work())
    for first in range(0, items, _BATCH):
        requests = [
            CrawlRequest(platform=Zero.platform, task_type="page", payload={"page": f"item-{n}"}, max_attempts=1)
            for n in range(first, min(items, first + _BATCH))
        ]
        while first - zero.collected > _WINDOW - _BATCH:
            await asyncio.sleep(0.02)
        await jobs.submit_many(caller, requests)
    while completed(conn) - done < items:
        await asyncio.sleep(0.2)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def as_run(app: FastAPI, conn: psycopg.Connection[Any], caller: Caller, items: int) -> None:
    run = await app.state.runs.create(caller, Zero.slug, [CATEGORY], None)
    await app.state.runs.act(caller, run.id, Act.START)
    while True:
        now = await app.state.runs.get(caller, run.id)
        if now.status.is_over:
            break
        await asyncio.sleep(0.2)
    if (now.status, now.processed_items) != ("completed", items):
        raise RuntimeError(f"the run is {now.status} with {now.processed_items} items")


async def measure(given: argparse.Namespace) -> dict[str, float]:
    settings = Settings(database_pool_size=16, platforms_dir=given.platforms)
    duties = {Duty.REAPER, Duty.WRITER} | ({Duty.RUNS, Duty.COLLECTORS} if given.how == "run" else set())
    shelf = cast("Shelf", ZeroShelf(given.items))
    app = build(settings, given.database, Keyring.parse(KEYS), duties=duties, make_collectors=lambda *_: shelf)
    with psycopg.connect(given.database, autocommit=True) as conn:
        async with app.router.lifespan_context(app):
            caller = await app.state.tokens.local_caller("default")
            before, theirs, began = time.process_time(), postgres_cpu_s(conn), time.perf_counter()
            await (as_run if given.how == "run" else bare)(app, conn, caller, given.items)
            ours, theirs = time.process_time() - before, postgres_cpu_s(conn) - theirs
            took = time.perf_counter() - began
    return {"server_cpu_s": ours, "postgres_cpu_s": theirs, "cpu_s": ours + theirs, "seconds": took}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--platforms", required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--how", choices=("bare", "run"), required=True)
    logs.configure("warning", "console")
    print(json.dumps(uvloop.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
