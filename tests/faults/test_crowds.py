"""Many clients at once, on a server that is a process of its own: sockets that never read, and requests given up."""

import asyncio
import hashlib
import json
import random
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import psutil
import pytest

from leasehold.db import Database
from leasehold.ids import parse
from leasehold.runs import RUN, store
from tests.faults.crowds import PATIENCE_S, Watcher, hang_up, watch
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import Leasehold, place

SOCKETS = 2000
DEAF = 100
# Far less than what those who do not read are told, and more than a server needs for all of them.
SPARE_BYTES = 250 * 1024 * 1024
ABORTS = 5000
AT_ONCE = 50
ACCOUNTS = 6


@pytest.fixture
def behind(postgres: Postgres, worker_id: str) -> TestDatabase:
    return postgres.create(f"lh_crowds_{worker_id}")


@pytest.fixture
def serve(behind: TestDatabase) -> Iterator[Leasehold]:
    with place() as here:
        yield here.serve(LEASEHOLD_DATABASE_URL=behind.url, LEASEHOLD_LOG_LEVEL="warning")


class Desk:
    """The server as its operator sees it."""

    def __init__(self, serve: Leasehold) -> None:
        self.serve = serve
        headers = {"Authorization": f"Bearer {serve.token}"}
        self.http = httpx.AsyncClient(base_url=serve.address, headers=headers, trust_env=False, timeout=PATIENCE_S)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def metric(self, name: str) -> int:
        text = (await self.http.get("/metrics")).text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, f"no {name} in the metrics"
        return int(float(found[1]))

    async def run(self) -> str:
        (amazon,) = [one for one in (await self.ask("GET", "/v2/runs/collectors"))["items"] if one["slug"] == "amazon"]
        plan = {"collector": "amazon", "categories": [amazon["categories"][0]["id"]]}
        made: str = (await self.ask("POST", "/v2/runs", plan))["id"]
        return made

    async def watch(self, tickets: list[str], run: str, *, is_deaf: bool = False) -> list[Watcher]:
        few = asyncio.Semaphore(20)

        async def one(ticket: str) -> Watcher:
            async with few:
                return await watch(self.serve.port, ticket, run, is_deaf=is_deaf)

        return list(await asyncio.gather(*map(one, tickets)))


def tickets(database: TestDatabase, many: int) -> list[str]:
    """As the API gives them out, but all at once and good for longer."""
    made = [f"ticket_{number}" for number in range(many)]
    database.run(
        "INSERT INTO live_ticket (digest, organisation, token, ends_at)"
        " SELECT d, organisation, id, clock_timestamp() + interval '1 hour' FROM token, unnest(%s::bytea[]) d",
        [hashlib.sha256(one.encode()).digest() for one in made],
    )
    return made


async def tell(db: Database, database: TestDatabase, run: str, *datas: dict[str, Any]) -> None:
    """Events of a run, as a driver would write them."""
    ((organisation,),) = database.rows("SELECT id FROM organisation")
    id_ = parse(RUN, run)
    assert id_ is not None
    async with db.transaction(organisation) as conn:
        await store.hold(conn, organisation, id_)
        await store.tell(conn, organisation, id_, [("items", data) for data in datas])


async def test_two_thousand_sockets_of_which_a_hundred_never_read(serve: Leasehold, behind: TestDatabase) -> None:
    process = psutil.Process(serve.pid)
    desk = Desk(serve)
    quiet, loud = await desk.run(), await desk.run()
    given = tickets(behind, SOCKETS)
    far, near = await desk.watch(given[10 + DEAF :], quiet), await desk.watch(given[:10], loud)
    # The last, because they answer no ping and are not borne for long.
    deaf = await desk.watch(given[10 : 10 + DEAF], loud, is_deaf=True)
    assert await desk.metric("leasehold_live_sockets") == SOCKETS
    held_bytes = process.memory_info().rss

    async with Database(behind.url, pool_size=2) as db, asyncio.timeout(PATIENCE_S):
        # On and on, until those who do not read were given up; who stands beside them hears every word.
        number = 0
        while await desk.metric("leasehold_live_sockets") > SOCKETS - DEAF:
            number += 1
            await tell(db, behind, loud, *[{"padding": "x" * 50_000}] * 10, {"word": f"loud {number}."})
            await asyncio.gather(*(one.hears(f"loud {number}.".encode()) for one in near))
            assert process.memory_info().rss - held_bytes < SPARE_BYTES
        await tell(db, behind, quiet, {"word": "and all the others."})
        await asyncio.gather(*(one.hears(b"and all the others.") for one in far))

    assert number > 1
    assert not any(one.ended.done() for one in (*near, *far))
    for one in deaf:
        one.transport.abort()
    await desk.http.aclose()

    # It lets all of them go, and ends.
    assert await asyncio.to_thread(serve.end, signal.SIGTERM) == 0
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(one.ended for one in (*near, *far)))
    assert {one.code for one in (*near, *far)} == {1012}


async def test_nothing_is_left_of_five_thousand_requests_that_were_given_up(
    serve: Leasehold, behind: TestDatabase
) -> None:
    chance = random.Random(11)  # noqa: S311 (moments)
    desk = Desk(serve)
    await desk.ask("POST", "/v2/sites", {"slug": "board", "domain": "board.example"})
    policy = {"reclaim_delay_seconds": 0, "quarantine_after_unclean": 99}
    await desk.ask("PATCH", "/v2/sites/board", {"policy": policy})
    items = [{"site": "board", "username": f"a{number}", "secret": {}} for number in range(ACCOUNTS)]
    await desk.ask("POST", "/v2/accounts/import", {"items": items})
    seeds = [{"site": "board", "url": f"https://board.example/{number}"} for number in range(ACCOUNTS)]
    await desk.ask("POST", "/v2/seeds", {"items": seeds})
    requests = [
        said(serve, "POST", "/v2/accounts/acquire", site="board", owner="storm", ttl_seconds=5, wait_seconds=2),
        said(serve, "POST", "/v2/accounts/acquire", site="board", owner="storm", ttl_seconds=5, count=3),
        said(serve, "POST", "/v2/seeds/acquire", site="board", owner="storm", ttl_seconds=5),
        said(serve, "POST", "/v2/sites/rewrite", urls=["https://board.example/"] * 100),
        said(serve, "GET", "/v2/accounts?limit=500"),
        said(serve, "GET", "/v2/audit?limit=500"),
    ]

    few = asyncio.Semaphore(AT_ONCE)

    async def one() -> bool:
        async with few:
            return await hang_up(serve.port, chance.choice(requests), chance)

    heard = await asyncio.gather(*(one() for _ in range(ABORTS)))

    assert len(set(heard)) == 2  # some went before anything was said to them, and some within it
    async with asyncio.timeout(PATIENCE_S):
        while await left(desk, behind):
            await asyncio.sleep(0.05)
    again = {"site": "board", "owner": "after", "count": ACCOUNTS, "wait_seconds": 30}
    assert len((await desk.ask("POST", "/v2/accounts/acquire", again))["leases"]) == ACCOUNTS
    await desk.http.aclose()
    assert await asyncio.to_thread(serve.end, signal.SIGTERM) == 0
    assert "crashed" not in serve.err


def said(serve: Leasehold, method: str, path: str, **document: Any) -> bytes:
    body = json.dumps(document).encode() if document else b""
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {serve.token}"]
    if document:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def left(desk: Desk, behind: TestDatabase) -> list[str]:
    """What is held for somebody who went away."""
    found = []
    with suppress(httpx.TransportError):
        # The one who asks uses none: metrics are made of what the pool says.
        if await desk.metric('leasehold_pool_connections{state="used"}'):
            found.append("connections")
        if await desk.metric('leasehold_pool_connections{state="waited_for"}'):
            found.append("requests that wait for a connection")
        if (await desk.ask("GET", "/v2/leases?owner=storm"))["items"]:
            found.append("leases")
    if behind.rows("SELECT FROM waiter"):
        found.append("waiters")
    return found
