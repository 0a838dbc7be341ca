"""What the SDK's own tests can ask for."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from leasehold.app import edged
from leasehold.auth import Role
from tests.client.standin import StandIn, standing_in
from tests.client.works import Works
from tests.jobs.conftest import platform
from tests.parts.broker import Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A server that fails as it is told to."""
    with standing_in() as made:
        yield made


@pytest.fixture
async def address(home: House) -> AsyncIterator[str]:
    """A whole leasehold that listens on loopback, as the SDK's own thread needs it."""
    async with listening(home) as url:
        yield url


@asynccontextmanager
async def listening(home: House) -> AsyncIterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(edged(home.app), lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving
    listener.close()


@pytest.fixture
async def works(database: TestDatabase, tmp_path: Path) -> AsyncIterator[Works]:
    """A leasehold with platforms `alpha` and `beta`, and what it takes to work for it."""
    folder = tmp_path / "platforms"
    folder.mkdir()
    for slug in ("alpha", "beta"):
        (folder / f"{slug}.yaml").write_text(platform(slug))
    async with house(database, platforms_dir=folder, body_limit_bytes=1_000_000) as home, listening(home) as url:
        yield Works(home, url, await home.token(Role.COLLECTOR), Broker(await home.caller()), folder)
