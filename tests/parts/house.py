"""A whole leasehold inside the test's own process: its app, a client for each caller, and ways to arrange things."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import httpx
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool

from leasehold.app import build, edged
from leasehold.auth import Role, Tokens, role_wish
from leasehold.collectors import Collector
from leasehold.duties import OF_A_SERVER, Duty
from leasehold.settings import Settings
from leasehold.sources import Outlet
from leasehold.vault import Keyring
from tests.parts.postgres import TestDatabase

# A key that seals the secrets of tests; any will do.
KEYS = Keyring.parse("test:" + "A" * 43 + "=")


class GivenCollectors:
    """Collectors that a test brings along."""

    def __init__(self, given: Callable[[UUID], Mapping[str, Collector]]) -> None:
        self._given = given

    def __call__(self, organisation: UUID) -> Mapping[str, Collector]:
        return self._given(organisation)

    async def aclose(self) -> None:
        return


class House:
    """An app on a test database. Requests go through the edge, as they do in life."""

    def __init__(self, app: FastAPI, database: TestDatabase) -> None:
        self.app = app
        self.database = database
        self.tokens: Tokens = app.state.tokens
        self._clients: list[httpx.AsyncClient] = []

    def client(self, token: str | None = None) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app=edged(self.app), raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://leasehold", headers=headers)
        self._clients.append(client)
        return client

    async def token(self, role: Role = Role.ADMIN, organisation: str = "default") -> str:
        return await self.tokens.create_locally(organisation, role_wish(f"a {role}", role))

    async def caller(self, role: Role = Role.ADMIN, organisation: str = "default") -> httpx.AsyncClient:
        """A client that may what the role may, in that organisation."""
        return self.client(await self.token(role, organisation))

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()


@asynccontextmanager
async def house(
    database: TestDatabase,
    *,
    keys: Keyring = KEYS,
    duties: Collection[Duty] = OF_A_SERVER,
    collectors: Callable[[UUID], Mapping[str, Collector]] | None = None,
    outlet: Outlet | None = None,
    **settings: Any,
) -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory(prefix="leasehold-house-") as folder:
        chosen = Settings(**{"database_pool_size": 8, "data_dir": folder, **settings})
        given = partial(build, chosen, database.url, keys, duties=duties, outlet=outlet)
        app = given(make_collectors=lambda *_: GivenCollectors(collectors)) if collectors else given()
        async with app.router.lifespan_context(app):
            made = House(app, database)
            try:
                yield made
            finally:
                await made.close()
                await _all_given_back(app.state.db.pool)


async def _all_given_back(pool: AsyncConnectionPool[Any]) -> None:
    """Every test ends with every connection back in the pool; one that is still being opened is waited for."""
    async with asyncio.timeout(60):
        while not pool.closed and pool.get_stats()["pool_available"] < pool.get_stats()["pool_size"]:
            await asyncio.sleep(0.005)
