"""What tests of the live socket share: a server that listens, a run, and somebody who watches it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from leasehold.ids import parse, uuid7
from leasehold.runs import RUN, store
from tests.parts.listening import PATIENCE_S, Listening, listening
from tests.parts.postgres import TestDatabase

JSON = dict[str, Any]


class Stage:
    """One run of one organisation, and who watches it."""

    def __init__(self, server: Listening, client: httpx.AsyncClient, run: str) -> None:
        self.server = server
        self.client = client
        self.run = run

    async def ticket(self, client: httpx.AsyncClient | None = None) -> str:
        answer = await (client or self.client).post("/v2/live/tickets")
        assert answer.status_code == 201, answer.text
        ticket: str = answer.json()["ticket"]
        return ticket

    @asynccontextmanager
    async def socket(self, server: Listening | None = None, **how: Any) -> AsyncIterator[ClientConnection]:
        url = f"ws://127.0.0.1:{(server or self.server).port}/v2/live"
        async with connect(url, proxy=None, **how) as made:
            yield made

    @asynccontextmanager
    async def watching(self, server: Listening | None = None, **subscribe: Any) -> AsyncIterator[ClientConnection]:
        """A socket that has said what it wants: the stage's run unless it says otherwise."""
        wanted = {"run_id": self.run, **subscribe}
        said = {name: value for name, value in wanted.items() if value is not None}
        async with self.socket(server) as made:
            await made.send(json.dumps({"ticket": await self.ticket(), "subscribe": said}))
            yield made

    async def tell(self, *kinds: str, run: str | None = None, **data: Any) -> None:
        """Events of the run, as a driver would write them."""
        id_ = parse(RUN, run or self.run)
        assert id_ is not None
        organisation = await self.organisation()
        async with self.server.db.transaction(organisation) as conn:
            await store.hold(conn, organisation, id_)
            await store.tell(conn, organisation, id_, [(kind, data) for kind in kinds])

    async def organisation(self) -> UUID:
        caller = await self.server.tokens.authenticate(self.client.headers["authorization"].removeprefix("Bearer "))
        return caller.organisation

    async def polled(self, since: int = 0) -> list[JSON]:
        answer = await self.client.get(f"/v2/runs/{self.run}/events", params={"since": since, "limit": 500})
        items: list[JSON] = answer.json()["items"]
        return items

    async def another(self) -> str:
        """One more run."""
        plan = {"collector": "amazon", "categories": [await category(self.client)]}
        answer = await self.client.post("/v2/runs", json=plan)
        assert answer.status_code == 201, answer.text
        run: str = answer.json()["id"]
        return run


async def category(client: httpx.AsyncClient) -> str:
    """The cheapest thing that can be collected."""
    (amazon,) = [one for one in (await client.get("/v2/runs/collectors")).json()["items"] if one["slug"] == "amazon"]
    cheapest = min(amazon["categories"], key=lambda one: one["items"] * one["unit_cost_micros"])
    found: str = cheapest["id"]
    return found


async def heard(socket: ClientConnection, until: str | int) -> list[JSON]:
    """What comes up to an event of that kind, or with that number; without pings."""
    found: list[JSON] = []
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = json.loads(await socket.recv())
            if message["type"] != "ping":
                found.append(message)
                if until in (message["type"], message["seq"]):
                    return found


async def goodbye(socket: ClientConnection) -> tuple[int, str]:
    """How the server closed it, whatever it said before."""
    async with asyncio.timeout(PATIENCE_S):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    code, reason = socket.close_code, socket.close_reason
    assert code is not None, "it is open still"
    return code, reason or ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(_worker_database: TestDatabase) -> AsyncIterator[Listening]:
    """One for all tests of a file; each has an organisation of its own."""
    _worker_database.empty()
    async with listening(_worker_database) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stage(server: Listening) -> Stage:
    made = Stage(server, await server.caller(organisation=f"o{uuid7().hex}"), "")
    made.run = await made.another()
    return made


@pytest.fixture
def behind(_worker_database: TestDatabase) -> TestDatabase:
    """The server's database, as it is."""
    return _worker_database
