"""A whole leasehold that listens on a port, inside the test's own process: for what has to go over a real socket."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

import httpx

from leasehold import server
from leasehold.app import build, edged
from leasehold.auth import Role, Tokens, role_wish
from leasehold.db import Database
from leasehold.duties import Duty
from leasehold.runs import Runs
from leasehold.server import Server
from leasehold.settings import Settings
from tests.parts.house import KEYS
from tests.parts.postgres import TestDatabase

PATIENCE_S = 60.0


class Listening:
    """A server, and callers of it."""

    def __init__(self, app: Any, port: int, server: Server, serving: asyncio.Task[None]) -> None:
        self._server = server
        self._serving = serving
        self.app = app
        self.port = port
        self.tokens: Tokens = app.state.tokens
        self.db: Database = app.state.db
        self.runs: Runs = app.state.runs
        self._clients: list[httpx.AsyncClient] = []

    async def caller(self, role: Role = Role.ADMIN, organisation: str = "default") -> httpx.AsyncClient:
        token = await self.tokens.create_locally(organisation, role_wish(f"a {role}", role))
        return self.client(token)

    def client(self, token: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"}
        made = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", headers=headers, trust_env=False, timeout=PATIENCE_S
        )
        self._clients.append(made)
        return made

    async def stop(self) -> None:
        """As a signal would."""
        for client in self._clients:
            await client.aclose()
        self._server.should_exit = True
        await asyncio.shield(self._serving)


@asynccontextmanager
async def listening(
    database: TestDatabase, *, duties: Collection[Duty] = (), collectors: Any = None, **settings: Any
) -> AsyncIterator[Listening]:
    """With collectors of the test's own, if it has some."""
    chosen = Settings(**{"database_pool_size": 8, "shutdown_timeout_seconds": 3, **settings})
    own: dict[str, Any] = {"make_collectors": lambda *_: collectors} if collectors else {}
    app = build(chosen, database.url, KEYS, duties=duties, **own)
    ready = asyncio.Event()
    made = server.make(edged(app), chosen, ready.set, lambda: None)
    listener = server.listen("127.0.0.1", 0)
    serving = asyncio.create_task(made.serve(sockets=[listener]))
    house = Listening(app, listener.getsockname()[1], made, serving)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ready.wait()
        yield house
    finally:
        await house.stop()
