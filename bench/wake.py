"""How soon a waiter learns that something came free in another process: called by NOTIFY, or by asking every 10 ms."""

import asyncio
import statistics
import time
from uuid import UUID

from bench.server import KEYS
from leasehold.app import build
from leasehold.auth import Tokens
from leasehold.db import Database
from leasehold.settings import Settings
from leasehold.vault import Keyring

SITE = "s0"


async def wake_ups(url: str, bearer: str, times: int) -> tuple[float, float]:
    """The medians in milliseconds: by the waiting room, and by a loop."""
    here = build(Settings(database_pool_size=4), url, Keyring.parse(KEYS))
    there = build(Settings(database_pool_size=4), url, Keyring.parse(KEYS))
    async with here.router.lifespan_context(here), there.router.lifespan_context(there):
        tokens: Tokens = here.state.tokens
        organisation = (await tokens.authenticate(bearer)).organisation
        room = there.state.accounts.counter.room
        woken = asyncio.Event()
        room.call = lambda *_where: woken.set()
        async with here.state.db.transaction(organisation) as conn:
            await conn.execute(
                "INSERT INTO waiter (id, organisation, process, site, priority, wanted, labels)"
                " VALUES (gen_random_uuid(), %s, %s, %s, 4, 1, '{}')",
                [organisation, room.process, SITE],
            )
        room._parked[(organisation, SITE)] = {}  # somebody waits, so the process says that it lives
        notified = [await _called(here.state.accounts.counter.room, organisation, woken) for _ in range(times)]
        room._parked.clear()
        polled = [await _polled(here.state.db, there.state.db, organisation) for _ in range(times)]
    return statistics.median(notified), statistics.median(polled)


async def _called(room: object, organisation: UUID, woken: asyncio.Event) -> float:
    await asyncio.sleep(0.01)
    woken.clear()
    began = time.perf_counter()
    room.nudge(organisation, [SITE])  # type: ignore[attr-defined]
    async with asyncio.timeout(10):
        await woken.wait()
    return 1000 * (time.perf_counter() - began)


async def _polled(writer: Database, reader: Database, organisation: UUID) -> float:
    """Something is written, and a loop that looks every 10 ms sees it."""
    seen = asyncio.Event()
    mark = f"poll-{time.perf_counter_ns()}"

    async def look() -> None:
        while True:
            async with reader.transaction(organisation) as conn:
                cur = await conn.execute("SELECT 1 FROM waiter WHERE site = %s", [mark])
                if await cur.fetchone():
                    seen.set()
                    return
            await asyncio.sleep(0.01)

    looking = asyncio.create_task(look())
    await asyncio.sleep(0.015)
    async with writer.transaction(organisation) as conn:
        await conn.execute(
            "INSERT INTO waiter (id, organisation, process, site, priority, wanted, labels)"
            " VALUES (gen_random_uuid(), %s, gen_random_uuid(), %s, 4, 1, '{}')",
            [organisation, mark],
        )
    began = time.perf_counter()
    await seen.wait()
    await looking
    return 1000 * (time.perf_counter() - began)
